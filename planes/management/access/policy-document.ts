import { actionFault, resourceFault } from '../../../engine/access/policy.ts'
import type { PolicyStatement } from '../../../engine/events/values.ts'
import { invalid } from '../errors.ts'
import {
  documented,
  listOf,
  memberOf,
  object,
  oneOf,
  readAs,
  readList,
  readMembers,
  readText,
  text,
  type Type,
} from '../schemas/schema.ts'

const STATEMENTS = { minimum: 1, maximum: 100 } as const
const PATTERNS = { minimum: 1, maximum: 100 } as const
/** Fits a bucket of 63 characters and a key of 1,024 bytes, with a wildcard. */
const PATTERN = { minimum: 1, maximum: 1152 } as const
/** Bounded, because every request of an account is checked against all its statements. */
const DOCUMENT_BYTES_MAXIMUM = 16 * 1024

const PATTERN_LIST = listOf(text(PATTERN), PATTERNS)

/** What is wrong with a document in the language of AWS. */
export const POLICY_OF_AWS =
  'is of a policy of AWS. A policy of this server has statements such as {"effect": "allow", "actions": ["s3:GetObject"], ' +
  '"resources": ["bucket:NAME", "bucket:NAME/*"]}: effects in lower case, bucket: in place of arn:aws:s3:::, and neither ' +
  'Version, Sid, Principal nor Condition'

/** Whether a value is a policy as AWS writes it. */
export function isPolicyOfAws(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'Statement' in value
}

/** The statements of a policy, documented here and read by `policyStatements`, which knows the actions. */
export const POLICY_STATEMENTS: Type<unknown> = readAs(
  listOf(object({ effect: oneOf('allow', 'deny'), actions: PATTERN_LIST, resources: PATTERN_LIST }), STATEMENTS),
  documented({}).read,
)

/**
 * @param actions every known action
 * @throws ManagementError INVALID_REQUEST naming the invalid part
 */
export function policyStatements(value: unknown, actions: ReadonlySet<string>): PolicyStatement[] {
  const statements = readList(value, 'statements', STATEMENTS).map((statement, index) =>
    statementOf(`statements[${index}]`, statement, actions),
  )
  if (Buffer.byteLength(JSON.stringify(statements)) > DOCUMENT_BYTES_MAXIMUM) {
    throw invalid('statements', `must have at most ${DOCUMENT_BYTES_MAXIMUM} bytes together`)
  }
  return statements
}

function statementOf(field: string, value: unknown, known: ReadonlySet<string>): PolicyStatement {
  const { effect, actions, resources } = readMembers(value, field, ['effect', 'actions', 'resources'])
  if (effect !== 'allow' && effect !== 'deny') throw invalid(memberOf(field, 'effect'), 'must be allow or deny')
  return {
    effect,
    actions: patternsOf(memberOf(field, 'actions'), actions, (pattern) => actionFault(pattern, known)),
    resources: patternsOf(memberOf(field, 'resources'), resources, resourceFault),
  }
}

function patternsOf(field: string, value: unknown, faultOf: (pattern: string) => string | undefined): string[] {
  return readList(value, field, PATTERNS).map((item, index) => {
    const pattern = readText(item, `${field}[${index}]`, PATTERN)
    const fault = faultOf(pattern)
    if (fault !== undefined) throw invalid(`${field}[${index}]`, fault)
    return pattern
  })
}
