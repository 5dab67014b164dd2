/** The results that the journal has of requests, held against how these were answered (specification, Audit event). */
import type { JournalEntry } from '../../support/journal-entries.ts'
import type { Answered } from './audit-oracle.ts'

/** Of a key among several. */
const FAULT_OF_SERVER = /^.*?<Code>(?:InsufficientStorage|InternalError|OutcomeUnknown|ServiceUnavailable)</s

type Result = 'success' | 'denied' | 'failure'

/** Its keys have records of their own, in its place. */
const OF_SEVERAL_KEYS = /^POST \/[^/?]+\?(?:.*&)?delete(?:[=&]|$)/
/** The one answer that has a record of its end. */
const EXPORT = 'audit.export'
/** A bypass has a pair of its own beside the outcome of its request (specification, Object Lock, rule 8). */
const BYPASS = 's3:object-lock.bypass'

/** Whether the error of a key among several is a fault of the server. @param text what follows `<Error>` */
export function isUnsure(text: string): boolean {
  return FAULT_OF_SERVER.test(text)
}

/**
 * The last outcome of a request says what its answer said, and one that was refused has no success: a change that was tried
 * again has the outcomes of each try. An export whose answer broke off is a failure. After a fault of the disk (5xx) it may be
 * that nobody knows, also of a key among several. The refusal of any other of them is on record before it is told.
 * @param orderly numbers of the starts that did
 * @returns the first thing that is wrong
 */
export function resultProblem(
  entries: readonly JournalEntry[],
  answers: readonly Answered[],
  orderly: ReadonlySet<number>,
): string | undefined {
  const outcomes = outcomesOf(entries)
  for (const answer of answers) {
    const found = outcomes.get(answer.requestId)
    const problem = found && problemOf(answer, found, orderly.has(answer.life))
    if (problem !== undefined) return `${answer.method} ${answer.target} was answered ${answer.status}, and ${problem}`
  }
  return undefined
}

/** By request, without what the store does in its own name meanwhile. */
function outcomesOf(entries: readonly JournalEntry[]): ReadonlyMap<string, readonly JournalEntry[]> {
  const outcomes = new Map<string, JournalEntry[]>()
  for (const entry of entries) {
    const { result, requestId, principal, credentialId } = entry
    const isOfStore = principal.startsWith('system:') && credentialId === undefined
    if (result === 'attempted' || requestId === undefined || isOfStore) continue
    const all = outcomes.get(requestId)
    if (all === undefined) outcomes.set(requestId, [entry])
    else all.push(entry)
  }
  return outcomes
}

function problemOf(answer: Answered, outcomes: readonly JournalEntry[], isOrderly: boolean): string | undefined {
  const { method, target, status, isComplete, faults, unsure } = answer
  const results = outcomes.flatMap(({ operation, result }) => (operation === BYPASS ? [] : result))
  const last = outcomes.at(-1)
  if (!isComplete) {
    const isExport = last?.operation === EXPORT
    return isExport && last.result !== 'failure' ? `broke off, and is on record as a ${last.result}` : undefined
  }
  if (OF_SEVERAL_KEYS.test(`${method} ${target}`) && status === 200) {
    const refused = results.filter((result) => result !== 'success').length
    const least = isOrderly ? faults : faults - unsure
    const isRight = refused >= least && refused <= faults
    return isRight ? undefined : `refused ${faults} keys, and ${refused} are on record as refused`
  }
  if (status >= 500) return undefined
  const expected = resultOf(status)
  if (expected !== 'success' && outcomes.some(({ result }) => result === 'success')) return 'is on record as a success'
  return results.at(-1) === expected ? undefined : `is on record as ${results.at(-1)}, not ${expected}`
}

function resultOf(status: number): Result {
  if (status >= 200 && status < 300) return 'success'
  return status === 401 || status === 403 ? 'denied' : 'failure'
}
