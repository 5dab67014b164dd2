import type { RequestBody } from '../../http/exchange.ts'
import type { ChunkReader } from './chunk-reader.ts'

/** Buffer for the payload of a piece with several chunks. One per thread: no caller keeps its content. */
let gathering = Buffer.alloc(0)

/** Longer pieces, which the drivers do not produce, get memory of their own that is not kept. */
const GATHERED_BYTES_MAXIMUM = 1024 * 1024

/** The payload of an aws-chunked body. Reading it fails before its end when a chunk is invalid. */
export class ChunkedBody implements RequestBody {
  readonly #body: RequestBody
  readonly #reader: ChunkReader
  readonly #length: number
  readonly #ended: (trailer: string | undefined) => void

  /**
   * @param length bytes of the payload
   * @param ended receives the value of the declared trailer at the end of the body, and throws to refuse it
   */
  constructor(body: RequestBody, reader: ChunkReader, length: number, ended: (trailer: string | undefined) => void) {
    this.#body = body
    this.#reader = reader
    this.#length = length
    this.#ended = ended
  }

  get receivedBytes(): number {
    return this.#body.receivedBytes
  }

  arrival(): Promise<void> | undefined {
    return this.#body.arrival()
  }

  takeArrived(): Buffer | undefined {
    const bytes = this.#body.takeArrived()
    if (bytes === undefined) return undefined
    const filling = new Filling(this.#length)
    this.#reader.take(bytes, (part) => filling.add(part))
    this.#end()
    return filling.whole
  }

  async readAll(): Promise<Buffer> {
    const filling = new Filling(this.#length)
    await this.pipe((part) => filling.add(part))
    return filling.whole
  }

  async pipe(sink: (chunk: Buffer) => void | Promise<void>, takeNow?: (chunk: Buffer) => void): Promise<void> {
    await this.#body.pipe(
      (piece) => {
        const payload = this.#payloadOf(piece)
        return payload === undefined ? undefined : sink(payload)
      },
      takeNow &&
        ((piece) => {
          const payload = this.#payloadOf(piece)
          if (payload !== undefined) takeNow(payload)
        }),
    )
    this.#end()
  }

  #end(): void {
    this.#ended(this.#reader.end())
  }

  /** The payload in a piece: a view if it is contiguous, otherwise a copy that the next piece overwrites. */
  #payloadOf(piece: Buffer): Buffer | undefined {
    let first: Buffer | undefined
    let copy: Buffer | undefined
    let filled = 0
    this.#reader.take(piece, (part) => {
      if (first === undefined) {
        first = part
        return
      }
      if (copy === undefined) {
        copy = roomFor(piece.length)
        filled = first.copy(copy)
      }
      filled += part.copy(copy, filled)
    })
    return copy === undefined ? first : copy.subarray(0, filled)
  }
}

function roomFor(length: number): Buffer {
  if (length > GATHERED_BYTES_MAXIMUM) return Buffer.allocUnsafeSlow(length)
  if (gathering.length < length) gathering = Buffer.allocUnsafeSlow(length)
  return gathering
}

/** A buffer that is filled part by part; not from Buffer's pool, since it may be transferred to another thread. */
class Filling {
  readonly #bytes: Buffer
  #filled = 0

  constructor(length: number) {
    this.#bytes = Buffer.allocUnsafeSlow(length)
  }

  add(part: Buffer): void {
    this.#filled += part.copy(this.#bytes, this.#filled)
  }

  /** @throws Error unless full: the rest is uninitialized memory */
  get whole(): Buffer {
    if (this.#filled !== this.#bytes.length) throw new Error('the chunks of a body ended before its length')
    return this.#bytes
  }
}
