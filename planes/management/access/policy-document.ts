import { AwsPolicyError } from '../../../engine/aws-policies/aws-elements.ts'
import { isPolicyOfAws, translateAccountPolicy } from '../../../engine/aws-policies/aws-policy.ts'
import { actionFault, resourceFault } from '../../../engine/access/policy.ts'
import type { PolicyStatement } from '../../../engine/events/values.ts'
import { invalid } from '../errors.ts'
import { TITLE } from '../schemas/common.ts'
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

/** A policy as it is sent: what holds the statements is not read yet. */
interface SentPolicy {
  readonly name: string
  /** A list of statements, or a policy of AWS. */
  readonly document: unknown
}

const OWN_STATEMENTS: Type<unknown> = readAs(
  listOf(object({ effect: oneOf('allow', 'deny'), actions: PATTERN_LIST, resources: PATTERN_LIST }), STATEMENTS),
  documented({}).read,
)
const OWN = object({ name: TITLE, statements: OWN_STATEMENTS })
const OF_AWS = documented({
  description: 'In place of statements: those of a policy of AWS (IAM user guide, IAM JSON policy elements reference).',
})
const EITHER = object(
  { name: TITLE },
  { statements: OWN_STATEMENTS, Statement: OF_AWS, Version: oneOf('2012-10-17', '2008-10-17'), Id: text() },
)

/** The body of a policy, documented here; its statements are read by `sentStatements`, which knows the actions. */
export const SENT_POLICY: Type<SentPolicy> = readAs(EITHER, (value, field) => {
  if (!isPolicyOfAws(value)) {
    const { name, statements } = OWN.read(value, field)
    return { name, document: statements }
  }
  const { name, ...document } = value
  if ('statements' in document) throw invalid('statements', 'must not be sent together with Statement or Version')
  return { name: TITLE.read(name, 'name'), document }
})

/**
 * The statements that are sent, in the language of this store or of AWS.
 * @param actions every known action
 * @throws ManagementError INVALID_REQUEST naming the invalid part
 */
export function sentStatements(sent: SentPolicy, actions: ReadonlySet<string>): PolicyStatement[] {
  return policyStatements(isPolicyOfAws(sent.document) ? translated(sent.document, actions) : sent.document, actions)
}

function translated(document: unknown, actions: ReadonlySet<string>): PolicyStatement[] {
  try {
    return translateAccountPolicy(document, actions)
  } catch (error) {
    if (error instanceof AwsPolicyError) throw invalid(error.place, error.detail)
    throw error
  }
}

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
