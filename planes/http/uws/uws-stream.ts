/**
 * A body on its way through uWebSockets.js: with a length in `sized-stream.ts`, without one in `chunked-stream.ts`. A cork of
 * the library is what gathers writes.
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

  /** Goes on with what waits, within a cork; `offset` is what the library says it has sent of the body. */
  protected abstract goOn(offset: number): void

  start(): void {
    this.res.onWritable((offset) => {
      this.#resume(offset)
      return !this.isWaiting
    })
    this.run()
  }

  /** The kernel has room for some of what waits long before it reports so. */
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
