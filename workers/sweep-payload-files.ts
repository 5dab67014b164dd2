import { join } from 'node:path'
import type { Disk } from '../engine/disk/disk.ts'
import { isHeld, mayBeHeld } from '../engine/disk/store-holds.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { isPayloadName } from '../engine/payloads/payload-ids.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/**
 * Removes payload files that no entry refers to: uploads whose command was never sent, and files whose removal a crash
 * cut short. Leaves files of the running start alone, because their command may still arrive.
 */
export class PayloadFileSweep implements BackgroundWorker {
  readonly name = 'sweep-payload-files'
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #start: string
  readonly #isUsed: (name: string) => boolean
  /** Directories left to sweep; undefined before the first step. */
  #directories: string[] | undefined
  #removed = 0

  /** `start`: the name of the running start. `isUsed`: whether the catalog refers to a file. */
  constructor(disk: Disk, paths: StorePaths, start: string, isUsed: (name: string) => boolean) {
    this.#disk = disk
    this.#paths = paths
    this.#start = start
    this.#isUsed = isUsed
  }

  get status(): string {
    const left = this.#directories === undefined ? 'all' : this.#directories.length
    return `${this.#removed} files removed, ${left} directories left`
  }

  /** Files removed so far. */
  get removed(): number {
    return this.#removed
  }

  /** Sweeps one directory. A backup may need what an earlier start kept for it, so it waits until none holds the store. */
  async step(): Promise<StepResult> {
    if (await isHeld(this.#disk, this.#paths)) return 'idle'
    this.#directories ??= this.#disk.list(this.#paths.files)
    const directory = this.#directories.pop()
    if (directory === undefined) return 'done'
    for (const name of this.#disk.list(join(this.#paths.files, directory))) {
      if (!isPayloadName(name) || name.startsWith(this.#start) || this.#isUsed(name)) continue
      // After the catalog: a backup that holds the store since needs nothing that was not in use before.
      if (mayBeHeld(this.#disk, this.#paths)) {
        this.#directories.push(directory)
        return 'more'
      }
      await this.#disk.removeAsync(this.#paths.file(name))
      this.#removed += 1
    }
    return this.#directories.length > 0 ? 'more' : 'done'
  }
}
