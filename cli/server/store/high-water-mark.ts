import { type HeadFile, refusedBatchId } from '../../../engine/journal/head-mark.ts'
import type { Journal, RefusedBatch } from '../../../engine/journal/journal.ts'
import { JournalPoisonedError } from '../../../engine/journal/journal-errors.ts'

const INTERVAL_MILLISECONDS = 1000

/** Regularly records the end of the journal in HEAD (J6), which distinguishes lost history from a torn tail. */
export class HighWaterMark {
  readonly #head: HeadFile
  readonly #journal: Journal
  readonly #bootId: string
  #timer: NodeJS.Timeout | undefined

  constructor(head: HeadFile, journal: Journal, bootId: string) {
    this.#head = head
    this.#journal = journal
    this.#bootId = bootId
  }

  /** @throws the disk's error */
  write(clean: boolean): void {
    this.#head.write({ ...this.#journal.position, clean, bootId: this.#bootId })
  }

  /**
   * Records durably that a batch was refused, so that the next start cuts it off wherever it is whole.
   * @throws the disk's error
   */
  refuse({ last, hash }: RefusedBatch): void {
    this.#head.writeBoth({ ...last, clean: false, bootId: this.#bootId, refused: refusedBatchId(hash) })
  }

  /** Checks every second and writes the mark if the journal has grown; then calls `also`. */
  start(onFailure: (error: JournalPoisonedError) => void, also: () => void): void {
    this.#timer = setInterval(() => {
      try {
        if (this.#head.newest?.sequence !== this.#journal.position.sequence) this.write(false)
        also()
      } catch (error) {
        onFailure(new JournalPoisonedError(`the high-water mark cannot be written: ${String(error)}`, { cause: error }))
      }
    }, INTERVAL_MILLISECONDS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
