import type { Disk } from './disk.ts'

interface Syncs {
  /** The running sync: a caller that asks now may be too late for it. */
  running: Promise<void>
  /** Starts after the running sync; shared by all callers that ask meanwhile. */
  next: Promise<void> | undefined
}

/** Syncs directories for one thread. Callers that ask during a sync of the same directory share the next one. */
export class DirectorySyncs {
  readonly #disk: Disk
  readonly #underWay = new Map<string, Syncs>()
  /** Directories that are durable in their parent. */
  readonly #durable = new Set<string>()

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /**
   * Resolves when all names that the directory had at the call are durable. Callers of a shared sync share its failure.
   */
  sync(directory: string): Promise<void> {
    const syncs = this.#underWay.get(directory)
    if (syncs === undefined) {
      const first: Syncs = { running: this.#disk.syncDirectoryAsync(directory), next: undefined }
      this.#underWay.set(directory, first)
      this.#continue(directory, first)
      return first.running
    }
    syncs.next ??= syncs.running.then(
      () => this.#disk.syncDirectoryAsync(directory),
      () => this.#disk.syncDirectoryAsync(directory),
    )
    return syncs.next
  }

  /**
   * Makes a directory, durable in `parent`. An existing directory may not be durable yet: another thread may just have
   * made it.
   */
  async make(directory: string, parent: string): Promise<void> {
    if (this.#durable.has(directory)) return
    this.#disk.makeDirectory(directory)
    await this.sync(parent)
    this.#durable.add(directory)
  }

  #continue(directory: string, syncs: Syncs): void {
    const over = (): void => {
      if (syncs.next === undefined) {
        this.#underWay.delete(directory)
        return
      }
      syncs.running = syncs.next
      syncs.next = undefined
      this.#continue(directory, syncs)
    }
    syncs.running.then(over, over)
  }
}
