import type { BodySource, HttpResponse } from '../http/exchange.ts'
import { isSource } from '../http/exchange.ts'

/** A shorter answer is with the socket at once, so it is not counted. */
const COUNTED_BYTES_MINIMUM = 16 * 1024
/** What answers of one thread may hold together until their clients have read them. */
export const HELD_BYTES_MAXIMUM = 64 * 1024 ** 2

/**
 * The answers of a thread that are in memory whole and that their clients have not read. Each is bounded; this bounds all
 * of them together, since a client need not read what it asks for.
 */
class HeldAnswers {
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Whether an answer may be held as well. One that is alone always may, however long. */
  hasRoomFor({ body }: HttpResponse): boolean {
    if (body === undefined || isSource(body) || this.#bytes === 0) return true
    const bytes = Buffer.byteLength(body)
    return bytes < COUNTED_BYTES_MINIMUM || this.#bytes + bytes <= HELD_BYTES_MAXIMUM
  }

  /** The same answer, counted until it is sent or its client has gone. */
  hold(response: HttpResponse): HttpResponse {
    const { body } = response
    if (body === undefined || isSource(body) || body.length < COUNTED_BYTES_MINIMUM) return response
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    this.#bytes += bytes.length
    return { ...response, body: this.#counted(bytes) }
  }

  #counted(bytes: Buffer): BodySource {
    let rest: Buffer | undefined = bytes
    const { length } = bytes
    return {
      length,
      next: () => {
        const piece = rest
        rest = undefined
        return piece
      },
      close: () => {
        this.#bytes -= length
      },
    }
  }
}

/** Those of this thread. */
export const heldAnswers = new HeldAnswers()
