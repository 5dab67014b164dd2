/** What the journal says of requests, held against what their clients were answered. */
import { API } from '../../../planes/management/routing/define-route.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import type { JournalEntry } from '../../support/journal-entries.ts'
import { resultProblem } from './audit-results.ts'

/** A request that was answered. */
export interface Answered {
  readonly requestId: string
  readonly method: string
  readonly target: string
  readonly status: number
  /** Number of the start that answered it. */
  readonly life: number
  /** Whether the answer went to its end. */
  readonly isComplete: boolean
  /** Keys that it says were refused. */
  readonly faults: number
  /** Those of them that are refused for a fault of the server, which may have no record. */
  readonly unsure: number
}

/** Routes that change nothing, though their method says otherwise. */
const LOOKING = routeList.filter(({ method, changes }) => method !== 'GET' && !changes).map(patternOf)
const ROUTES = routeList.map(patternOf)
/** A request for the ACL that there is, which changes nothing. */
const KEEPS_ACL = /^PUT [^?]+\?(?:.*&)?acl(?:[=&]|$)/
/** Probes, whose reads have no record (`RouteRoles` of the management plane). */
const UNRECORDED = routeList.filter(({ method, roles }) => method === 'GET' && typeof roles === 'string').map(patternOf)

/** Reads of the log of checkpoints, of which one record stands for an hour of a credential. */
const FOLDED = routeList
  .filter(({ path }) => /\/transparency\/(?:checkpoint|tile\/\{tile\})$/.test(path))
  .map(patternOf)

/**
 * Every outcome follows its attempt, of the same request, and is the only one; an attempt without an outcome is followed by
 * the end of a start. What changed something, and was acknowledged, has its record; what only read has it where the start
 * that answered ended in order. Results are those of the answers.
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
    if (UNRECORDED.some((pattern) => pattern.test(line)) || isUnknown(line, target)) continue
    const looks = KEEPS_ACL.test(line) || LOOKING.some((pattern) => pattern.test(line))
    const isRead = method === 'GET' || method === 'HEAD' || looks
    const mustBe = (!isRead && status < 300) || orderly.has(life)
    if (mustBe && !recorded.has(requestId) && !isCovered(line, status, answers, recorded))
      return `${line} was answered ${status}, and has no record`
  }
  return pairProblem(entries) ?? resultProblem(entries, answers, orderly)
}

/** Whether a read that succeeded may have no record, since another one of its route has. */
function isCovered(
  line: string,
  status: number,
  answers: readonly Answered[],
  recorded: ReadonlySet<string | undefined>,
): boolean {
  const route = status < 300 ? FOLDED.find((pattern) => pattern.test(line)) : undefined
  if (route === undefined) return false
  return answers.some(
    (one) => recorded.has(one.requestId) && one.status < 300 && route.test(`${one.method} ${one.target}`),
  )
}

/** Requests of the management plane that no route has are not recorded. */
function isUnknown(line: string, target: string): boolean {
  return target.startsWith(`${API}/`) && !ROUTES.some((pattern) => pattern.test(line))
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
