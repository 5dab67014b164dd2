/**
 * Sends a body of unknown length in chunks (RFC 9112 section 7.1). A failure cuts the connection before the last chunk,
 * so the client sees that the body is incomplete.
 *
 * The library accepts any amount of such a body, buffers what the kernel does not take, and retries only with the next
 * write. So each write is small, and tiny while the library has a rest: its buffer is bounded, and so is what is sent
 * to a client that does not read.
 */
import { UwsStream } from './uws-stream.ts'

/** Bytes handed to the library at once; also the bound of its buffer. */
const CHUNK_BYTES_MAXIMUM = 64 * 1024
/** Bytes handed to the library while it has a rest. The kernel has more room than that when it reports any. */
const PROBE_BYTES = 512

export class ChunkedStream extends UwsStream {
  /** The rest of the current piece. */
  #rest: Buffer | undefined
  /** Whether the library buffers bytes that the kernel did not take. */
  #holds = false
  /** The source has ended. */
  #ended = false
  /** Bytes handed to the library, and how many of them the kernel has certainly taken. */
  #handedBytes = 0
  #takenBytes = 0

  progress(): number | undefined {
    return this.isWaiting ? this.#takenBytes : undefined
  }

  protected get isWaiting(): boolean {
    return this.#rest !== undefined
  }

  override abort(): void {
    this.#rest = undefined
    super.abort()
  }

  protected send(piece: Buffer): void {
    this.#rest = piece
    this.#write()
  }

  protected finish(): void {
    this.#ended = true
    this.res.end()
    this.done()
  }

  protected goOn(): void {
    this.#write()
  }

  /** Hands over the rest, chunk by chunk, until the library has to buffer. */
  #write(): void {
    let rest = this.#rest
    while (rest !== undefined && !this.#ended) {
      const length = this.#holds ? PROBE_BYTES : CHUNK_BYTES_MAXIMUM
      const taken = this.res.write(rest.subarray(0, length))
      rest = rest.length > length ? rest.subarray(length) : undefined
      this.#rest = rest
      this.#handedBytes += length
      this.#holds = !taken
      if (!taken) return
      this.#takenBytes = this.#handedBytes
    }
  }
}
