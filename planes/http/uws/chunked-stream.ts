/**
 * Sends a body whose length nobody knows beforehand, in chunks (RFC 9112 section 7.1). A failure cuts the connection
 * before the last chunk, so the client sees that the body is not whole.
 *
 * The library takes whatever it is given of such a body, keeps what the kernel does not take, and tries to write that
 * only when it is given more. So it is given little at a time, and next to nothing while it holds some: what it holds
 * is bounded, and so is what is sent to a client that does not read.
 */
import { UwsStream } from './uws-stream.ts'

/** Bytes handed to the library at once; also what it may be left with. */
const CHUNK_BYTES_MAXIMUM = 64 * 1024
/** Handed to the library while it has some left. The kernel has room for more than that when it reports any. */
const PROBE_BYTES = 512

export class ChunkedStream extends UwsStream {
  /** What is left of the piece that the library is being given. */
  #rest: Buffer | undefined
  /** The library holds some that the kernel did not take. */
  #holds = false
  /** The source has ended. */
  #ended = false
  /** Bytes handed to the library, and how many of them are with the kernel for sure. */
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

  /** Hands over the rest, chunk by chunk, until the library has to keep some. */
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
