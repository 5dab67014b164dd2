import { type Share, Shares } from '../../engine/shares/shares.ts'
import { type BodySource, type HttpResponse, isSource } from '../http/exchange.ts'

/** A shorter answer is with the socket at once, so it is not counted. */
const COUNTED_LENGTH_MINIMUM = 16 * 1024

/**
 * The answers of this thread that are in memory whole and that their clients have not read. Each is bounded; this bounds
 * all of them together, by owner, since a client need not read what it asks for.
 */
export const heldAnswers = new Shares('held-answers')

/** The body of an answer in memory, if it is long enough to be counted. */
export function longBody({ body }: HttpResponse): Buffer | string | undefined {
  return body === undefined || isSource(body) || body.length < COUNTED_LENGTH_MINIMUM ? undefined : body
}

/** Who holds an answer, and how it is taken away. */
export interface AnswerHolder {
  readonly owner: string
  /** Closes the connection. Called in a later turn of the event loop. */
  readonly cut: () => void
  /** The answer is of a change that was made, and may not be kept back. */
  readonly isDue: boolean
}

/**
 * A body counted in the share of its owner, until it is sent or its client has gone.
 * @returns undefined when there is no room for it
 */
export function holdBody(body: Buffer | string, { owner, cut, isDue }: AnswerHolder): HeldBody | undefined {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  // Not at once: another request is being answered just now.
  const evict = () => void setImmediate(cut)
  const share = heldAnswers[isDue ? 'claim' : 'take'](owner, bytes.length, evict)
  return share === undefined ? undefined : new HeldBody(bytes, share)
}

export class HeldBody implements BodySource {
  readonly length: number
  /** Called when it is over. */
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
