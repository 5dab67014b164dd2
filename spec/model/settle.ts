/**
 * Which worlds explain what was answered. Requests that were on their way at the same time may have taken effect in any
 * order, and one of several pieces may have had others between them; one without an answer may have taken effect or not (X6).
 */
import type { WireAnswer } from '../support/wire-client.ts'
import { mismatch, type ModelRequest, type Moment, type Operation } from './expectation.ts'
import { fingerprint } from './fingerprint.ts'
import type { ModelState } from './state.ts'

/** A request that was sent, and its answer if one came. */
export interface Exchange {
  readonly operation: Operation
  readonly answer: WireAnswer | undefined
}

/** No world explains the answers. */
export class ContradictionError extends Error {
  override readonly name = 'ContradictionError'
}

/**
 * The worlds that may be after the exchanges, each once.
 * @throws ContradictionError
 */
export function settle(worlds: readonly ModelState[], exchanges: readonly Exchange[], moment: Moment): ModelState[] {
  const alone = exchanges.length === 1
  const queues = exchanges.map(({ operation, answer }) => {
    const { request, pieces = [operation] } = operation
    return { method: request.method, answer, left: alone ? [operation] : pieces }
  })
  const after = distinct(worlds.flatMap((world) => orders(world, queues, moment)))
  if (after.length > 0) return after
  throw new ContradictionError(
    exchanges.map((exchange) => describe(exchange, worlds, exchanges.length, moment)).join('\n'),
  )
}

/** A request of which some is still to be carried out. */
interface Queue {
  readonly method: ModelRequest['method']
  readonly answer: WireAnswer | undefined
  readonly left: readonly Pick<Operation, 'outcomes'>[]
}

function orders(world: ModelState, queues: readonly Queue[], moment: Moment): ModelState[] {
  const after = queues.flatMap((queue, index) => {
    const left = queue.left.slice(1)
    const others = left.length === 0 ? queues.toSpliced(index, 1) : queues.with(index, { ...queue, left })
    return distinct(steps(world, queue, moment)).flatMap((next) => orders(next, others, moment))
  })
  return queues.every(({ answer }) => answer === undefined) ? [world, ...after] : distinct(after)
}

/** What a world may become by the next piece of a request. */
function steps(world: ModelState, { method, answer, left: [piece] }: Queue, moment: Moment): ModelState[] {
  const outcomes = piece?.outcomes(world, moment) ?? []
  const possible = outcomes.filter(
    ({ pattern }) => answer === undefined || mismatch(pattern, method, answer) === undefined,
  )
  return possible.map((outcome) => outcome.next(answer))
}

function distinct(worlds: readonly ModelState[]): ModelState[] {
  if (worlds.length < 2) return [...worlds]
  return [...new Map(worlds.map((world) => [fingerprint(world), world])).values()]
}

function describe(
  { operation, answer }: Exchange,
  worlds: readonly ModelState[],
  exchangeCount: number,
  moment: Moment,
): string {
  const text = requestText(operation)
  if (answer === undefined) return `${text}: no answer`
  if (exchangeCount > 1) return `${text}: ${answer.status} ${answer.code ?? ''} ${JSON.stringify(answer.headers)}`
  const problems = worlds.flatMap((world) =>
    operation.outcomes(world, moment).map(({ pattern }) => mismatch(pattern, operation.request.method, answer)),
  )
  const shown = [...new Set(problems)].join('; or ')
  return `${text}: ${shown}\n  clock ${JSON.stringify(moment)}\n  ${answer.text.slice(0, 600)}`
}

/** A request and its answer in one line. */
export function exchangeText({ operation, answer }: Exchange): string {
  return `${requestText(operation)}: ${answer === undefined ? 'no answer' : `${answer.status} ${answer.code ?? ''}`}`
}

function requestText({ request }: Operation): string {
  const { method, target, headers = [], body } = request
  const shown = headers.map(([name, value]) => ` ${name}=${value}`).join('')
  const content = typeof body === 'string' ? ` ${body}` : body === undefined ? '' : ` (${body.bytes.length} bytes)`
  return `${method} ${target}${shown}${content}`
}
