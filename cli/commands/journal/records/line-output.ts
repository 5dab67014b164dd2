import type { Writable } from 'node:stream'

/** Lines are gathered to this many characters before they are written. */
const GATHERED_CHARACTERS_MAXIMUM = 64 * 1024

/**
 * Writes lines at the pace of their reader, and notices when the reader has gone: `journal show | head` is not a failure.
 */
export class LineOutput {
  readonly #stream: Writable
  #gathered = ''
  #wake: (() => void) | undefined
  /** True when the reader has gone. */
  closed = false

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', this.#end)
    stream.on('close', this.#end)
    stream.on('drain', this.#continue)
  }

  /** Adds a line; resolves when there is room for more. */
  async line(text: string): Promise<void> {
    this.#gathered += `${text}\n`
    if (this.#gathered.length >= GATHERED_CHARACTERS_MAXIMUM) await this.flush()
  }

  /** Writes the gathered lines. */
  async flush(): Promise<void> {
    const text = this.#gathered
    this.#gathered = ''
    if (text === '' || this.closed || this.#stream.write(text)) return
    if (this.closed) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /** Writes the rest and detaches from the stream, which stays open. */
  async finish(): Promise<void> {
    await this.flush()
    this.#stream.off('close', this.#end)
    this.#stream.off('drain', this.#continue)
    // The error listener stays: a reader that closes after the last line must not end the process.
  }

  readonly #continue = (): void => {
    this.#wake?.()
    this.#wake = undefined
  }

  readonly #end = (): void => {
    this.closed = true
    this.#continue()
  }
}
