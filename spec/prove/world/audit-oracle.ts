/** What the journal says of requests, held against what their clients were answered. */
import { routeList } from '../../../planes/management/routing/route-list.ts'
import type { JournalEntry } from '../../support/journal-entries.ts'

/** A request that was answered. */
export interface Answered {
  readonly requestId: string
  readonly method: string
  readonly target: string
  readonly status: number
  /** Number of the start that answered it. */
  readonly life: number
}

/** Routes that change nothing, though their method says otherwise. */
const LOOKING = routeList.filter(({ method, changes }) => method !== 'GET' && !changes).map(patternOf)
/** Probes, whose reads have no record (`RouteRoles` of the management plane). */
const UNRECORDED = routeList.filter(({ method, roles }) => method === 'GET' && typeof roles === 'string').map(patternOf)

/**
 * Every outcome follows its attempt, of the same request, and is the only one; an attempt without an outcome is followed by
 * the end of a start. What changed something, and was acknowledged, has its record; what only read has it where the start
 * that answered ended in order.
 * @param orderly numbers of the starts that did
 * @returns the first thing that is wrong
 */
export function auditProblem(
  entries: readonly JournalEntry[],
  answers: readonly Answered[],
  orderly: ReadonlySet<number>,
): string | undefined {
  const recorded = new Set(entries.map(({ requestId }) => requestId))
  for (const { requestId, method, target, status, life } of answers) {
    const line = `${method} ${target}`
    if (UNRECORDED.some((pattern) => pattern.test(line))) continue
    const isRead = method === 'GET' || method === 'HEAD' || LOOKING.some((pattern) => pattern.test(line))
    const mustBe = (!isRead && status < 300) || orderly.has(life)
    if (mustBe && !recorded.has(requestId)) return `${line} was answered ${status}, and has no record`
  }
  return pairProblem(entries)
}

/** What request lines of a route look like. */
function patternOf({ method, path }: { readonly method: string; readonly path: string }): RegExp {
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'key' ? '.+' : '[^/?]+'))
  return new RegExp(`^${method} ${named}(?:\\?.*)?$`)
}

function pairProblem(entries: readonly JournalEntry[]): string | undefined {
  const open = new Map<number, JournalEntry>()
  let order = 0
  for (const entry of entries) {
    const { sequence, result, intent, orderMicroseconds, changes } = entry
    const setBack = changes.find((change) => change.name === 'clock.set-back')
    if (setBack !== undefined) {
      const { from, to } = setBack
      const isSo = from === order && to === orderMicroseconds
      if (!isSo) return `entry ${sequence} says other times than it is between: ${from} and ${to}`
    } else if (orderMicroseconds < order) return `entry ${sequence} is ordered before the entry before it`
    order = orderMicroseconds
    // Attempts of a start that ended without order have no outcome.
    if (changes.some(({ name }) => name === 'server.started')) open.clear()
    if (result === 'attempted') open.set(sequence, entry)
    if (intent === undefined) continue
    const attempt = open.get(intent)
    if (attempt === undefined) return `entry ${sequence} is the outcome of ${intent}, which is no open attempt`
    if (attempt.requestId !== entry.requestId) return `entry ${sequence} has another request than its attempt ${intent}`
    open.delete(intent)
  }
  const [left] = open.values()
  return left === undefined ? undefined : `attempt ${left.sequence} (${left.operation}) has no outcome`
}
