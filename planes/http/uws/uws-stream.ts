/**
 * Base of the streams through uWebSockets.js: with a length in `sized-stream.ts`, without one in `chunked-stream.ts`.
 * Writes are gathered by the library's cork.
 */
import type * as uWS from 'uWebSockets.js'
import type { BodySource } from '../exchange.ts'
import { SourceStream, type StreamOwner } from '../responses/source-stream.ts'

export abstract class UwsStream extends SourceStream {
  protected readonly res: uWS.HttpResponse

  constructor(res: uWS.HttpResponse, source: BodySource, owner: StreamOwner) {
    super(source, owner)
    this.res = res
  }

  /** Continues with the waiting bytes, within a cork. @param offset bytes of the body that the library has sent */
  protected abstract goOn(offset: number): void

  start(): void {
    this.res.onWritable((offset) => {
      this.#resume(offset)
      return !this.isWaiting
    })
    this.run()
  }

  /** Tries to write before the kernel reports room, which it does late. */
  retry(): void {
    if (this.isWaiting) this.res.cork(() => this.#resume(this.res.getWriteOffset()))
  }

  protected gathered(work: () => void): void {
    this.res.cork(work)
  }

  #resume(offset: number): void {
    if (!this.isWaiting) return
    this.goOn(offset)
    if (!this.isWaiting) this.run()
  }
}
