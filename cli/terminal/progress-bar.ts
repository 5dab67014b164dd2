import { isTerminal } from './is-terminal.ts'
import type { Writable } from 'node:stream'

const BAR_CELLS = 30
/** Faster updates would not be seen. */
const REDRAW_MILLISECONDS = 100

/** A number of bytes as MiB, for a bar. */
export function bytesText(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}

/** A bar that is redrawn in place on a terminal; it draws nothing elsewhere. */
export class ProgressBar {
  readonly #stream: Writable
  readonly #terminal: boolean
  #drawnAt = 0

  /** @param stream normally standard error, so that the output of the command stays clean */
  constructor(stream: Writable) {
    this.#stream = stream
    this.#terminal = isTerminal(stream)
  }

  /**
   * Draws the bar, unless it was drawn a moment ago.
   * @param share done, from 0 to 1
   * @param text printed after the bar
   */
  draw(share: number, text: string): void {
    const now = performance.now()
    if (!this.#terminal || now - this.#drawnAt < REDRAW_MILLISECONDS) return
    this.#drawnAt = now
    const cells = Math.round(Math.min(Math.max(share, 0), 1) * BAR_CELLS)
    this.#stream.write(`\r\u001B[K[${'#'.repeat(cells)}${'.'.repeat(BAR_CELLS - cells)}] ${text}`)
  }

  /** Draws text alone, for work of unknown size. */
  say(text: string): void {
    const now = performance.now()
    if (!this.#terminal || now - this.#drawnAt < REDRAW_MILLISECONDS) return
    this.#drawnAt = now
    this.#stream.write(`\r\u001B[K${text}`)
  }

  /** Removes the bar. */
  clear(): void {
    if (this.#terminal && this.#drawnAt > 0) this.#stream.write('\r\u001B[K')
  }
}
