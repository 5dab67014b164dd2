import type { Disk } from '../../../engine/disk/disk.ts'
import { isHeld, mayBeHeld } from '../../../engine/disk/store-holds.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { ReleasedFiles } from '../../../engine/loop/batch-result.ts'

/** Paths that are kept for holders; with more, all go. */
const KEPT_MAXIMUM = 200_000

/**
 * Removes the files of payloads to which nothing refers any more. While a backup holds the store they stay; they go when
 * it ends, and at once when space is short: a backup never stands between a full store and its space
 * (spec/decisions/0107-backup-and-restore.md).
 */
export class PayloadRemoval {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #isSpaceShort: () => boolean
  #kept: string[] = []
  #looking = false

  constructor(disk: Disk, paths: StorePaths, isSpaceShort: () => boolean) {
    this.#disk = disk
    this.#paths = paths
    this.#isSpaceShort = isSpaceShort
  }

  /** Called when the entries that released the files are durable: a holder of the store may need them. */
  remove({ files, volumes }: ReleasedFiles): void {
    const gone = [
      ...files.map((name) => this.#paths.file(name)),
      ...volumes.map((volume) => this.#paths.volume(volume)),
    ]
    if (!mayBeHeld(this.#disk, this.#paths)) return this.#removeAll(gone)
    for (const path of gone) this.#kept.push(path)
    if (this.#mustGo) this.#removeKept()
  }

  /** Looks whether the holders have ended. Called every second. */
  look(): void {
    if (this.#kept.length === 0 || this.#looking) return
    if (this.#mustGo) return this.#removeKept()
    this.#looking = true
    isHeld(this.#disk, this.#paths)
      .then((held) => {
        if (!held) this.#removeKept()
      })
      // On an error it may be held: look again.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = false
      })
  }

  get #mustGo(): boolean {
    return this.#kept.length > KEPT_MAXIMUM || this.#isSpaceShort()
  }

  #removeKept(): void {
    const kept = this.#kept
    this.#kept = []
    this.#removeAll(kept)
  }

  #removeAll(paths: readonly string[]): void {
    // The next start sweeps files that cannot be removed now, and files still held when the process ends.
    for (const path of paths) this.#disk.removeAsync(path).catch(() => undefined)
  }
}
