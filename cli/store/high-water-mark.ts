import type { HeadFile } from '../../engine/journal/head-mark.ts'
import type { Journal } from '../../engine/journal/journal.ts'
import { JournalPoisonedError } from '../../engine/journal/journal-errors.ts'

const INTERVAL_MILLISECONDS = 1000

/** Notes in HEAD, now and then, how far the journal is (J6): what tells lost history from a torn tail. */
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

  /** Writes the mark whenever the journal has grown; `also` is called each time after it. */
  start(onFailure: (error: JournalPoisonedError) => void, also: () => void): void {
    this.#timer = setInterval(() => {
      try {
        if (this.#head.newest?.sequence !== this.#journal.position.sequence) this.write(false)
      } catch (error) {
        onFailure(new JournalPoisonedError(`the high-water mark cannot be written: ${String(error)}`, { cause: error }))
        return
      }
      also()
    }, INTERVAL_MILLISECONDS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
