import { actionFault, resourceFault } from '../../engine/domain/policy.ts'
import type { PolicyStatement } from '../../engine/events/access-changes.ts'
import { invalid } from './errors.ts'
import { anyList, anyText, jsonObject } from './json-body.ts'

export const STATEMENTS = { minimum: 1, maximum: 100 } as const
export const PATTERNS = { minimum: 1, maximum: 100 } as const
/** The longest resource: a bucket of 63 characters and a key of 1,024 bytes, with a wildcard. */
export const PATTERN = { minimum: 1, maximum: 1152 } as const
/** Every statement is held against every request of its accounts. */
const DOCUMENT_BYTES_MAXIMUM = 16 * 1024

/**
 * The statements of a policy as a request sends them.
 * @param actions every action that there is
 * @throws ManagementError INVALID_REQUEST naming the part that is wrong
 */
export function policyStatements(value: unknown, actions: ReadonlySet<string>): PolicyStatement[] {
  const statements = anyList('statements', value, STATEMENTS).map((statement, index) =>
    statementOf(`statements[${index}]`, statement, actions),
  )
  if (Buffer.byteLength(JSON.stringify(statements)) > DOCUMENT_BYTES_MAXIMUM) {
    throw invalid('statements', `must have at most ${DOCUMENT_BYTES_MAXIMUM} bytes together`)
  }
  return statements
}

function statementOf(field: string, value: unknown, actions: ReadonlySet<string>): PolicyStatement {
  const members = jsonObject(field, value, ['effect', 'actions', 'resources'])
  const effect = members.get('effect')
  if (effect !== 'allow' && effect !== 'deny') throw invalid(members.path('effect'), 'must be allow or deny')
  return {
    effect,
    actions: patternsOf(members.path('actions'), members.get('actions'), (text) => actionFault(text, actions)),
    resources: patternsOf(members.path('resources'), members.get('resources'), resourceFault),
  }
}

function patternsOf(field: string, value: unknown, faultOf: (text: string) => string | undefined): string[] {
  return anyList(field, value, PATTERNS).map((item, index) => {
    const text = anyText(`${field}[${index}]`, item, PATTERN)
    const fault = faultOf(text)
    if (fault !== undefined) throw invalid(`${field}[${index}]`, fault)
    return text
  })
}
