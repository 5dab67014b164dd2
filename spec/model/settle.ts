/**
 * Which worlds explain what was answered. Requests that were on their way at the same time may have taken effect in any
 * order; one without an answer may have taken effect or not (X6).
 */
import type { WireAnswer } from '../support/wire-client.ts'
import { mismatch, type Moment, type Operation } from './expectation.ts'
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
  const after = distinct(worlds.flatMap((world) => orders(world, exchanges, moment)))
  if (after.length > 0) return after
  throw new ContradictionError(
    exchanges.map((exchange) => describe(exchange, worlds, exchanges.length, moment)).join('\n'),
  )
}

function orders(world: ModelState, exchanges: readonly Exchange[], moment: Moment): ModelState[] {
  const after = exchanges.flatMap((exchange, index) => {
    const others = exchanges.toSpliced(index, 1)
    return distinct(steps(world, exchange, moment)).flatMap((next) => orders(next, others, moment))
  })
  return exchanges.every(({ answer }) => answer === undefined) ? [world, ...after] : distinct(after)
}

/** What a world may become by one exchange. */
function steps(world: ModelState, { operation, answer }: Exchange, moment: Moment): ModelState[] {
  const outcomes = operation.outcomes(world, moment)
  const { method } = operation.request
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
