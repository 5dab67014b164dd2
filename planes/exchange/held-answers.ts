import { threadTurns } from '../../projections/audit/turns.ts'
import { type Share, Shares } from '../../engine/shares/shares.ts'
import { type BodySource, type HttpResponse, isSource } from '../http/exchange.ts'

/** Shorter answers go to the socket at once, so they are not counted. */
const COUNTED_LENGTH_MINIMUM = 16 * 1024

/**
 * Bounds the memory of answers that their clients have not read yet, of all owners in this thread together. Each answer
 * is bounded, but a client need not read the answers it requests.
 */
export const heldAnswers = new Shares('held-answers')

/** Bytes of long answers to one owner in one turn of the event loop; its next request waits for another turn. */
const TURN_BYTES = 2 * 1024 * 1024
const madeInTurn = new Map<string, number>()

/**
 * The turn to wait for before a request of an owner that was given many long answers in this turn of the event loop: requests
 * that arrived together would keep all others waiting. Undefined for everybody else.
 */
export function turnAfterLong(owner: string): Promise<void> | undefined {
  if (madeInTurn.size === 0 || (madeInTurn.get(owner) ?? 0) < TURN_BYTES) return undefined
  return threadTurns.of(owner).next()
}

function countInTurn(owner: string, bytes: number): void {
  if (madeInTurn.size === 0) setImmediate(() => madeInTurn.clear())
  madeInTurn.set(owner, (madeInTurn.get(owner) ?? 0) + bytes)
}

/** The body of an answer in memory, if it is long enough to be counted. */
export function longBody({ body }: HttpResponse): Buffer | string | undefined {
  return body === undefined || isSource(body) || body.length < COUNTED_LENGTH_MINIMUM ? undefined : body
}

/** The owner of an answer, and how to evict it. */
export interface AnswerHolder {
  readonly owner: string
  /** Closes the connection. Called in a later turn of the event loop. */
  readonly cut: () => void
  /** Whether the answer reports a change that was made, and so must be sent. */
  readonly isDue: boolean
}

/**
 * Counts a body in the share of its owner, until it is sent or its client has gone.
 * @returns undefined when there is no room
 */
export function holdBody(body: Buffer | string, { owner, cut, isDue }: AnswerHolder): HeldBody | undefined {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  countInTurn(owner, bytes.length)
  // In a later turn, since another request is being answered now.
  const evict = () => void setImmediate(cut)
  const share = heldAnswers[isDue ? 'claim' : 'take'](owner, bytes.length, evict)
  return share === undefined ? undefined : new HeldBody(bytes, share)
}

export class HeldBody implements BodySource {
  readonly length: number
  /** Called when the body is closed. */
  closed: (() => void) | undefined
  readonly #share: Share
  #rest: Buffer | undefined

  constructor(bytes: Buffer, share: Share) {
    this.length = bytes.length
    this.#rest = bytes
    this.#share = share
  }

  next(): Buffer | undefined {
    const piece = this.#rest
    this.#rest = undefined
    return piece
  }

  close(): void {
    this.#rest = undefined
    this.#share.leave()
    this.closed?.()
  }
}
