import { type Disk, type DiskFile, DiskFullError } from './disk.ts'

const STEP_BYTES = 1 << 20
const ZEROS = Buffer.alloc(STEP_BYTES)
/**
 * Free space required on top of a spare: a spare that does not fit would take space that writes need, again and again.
 */
const BESIDE_BYTES = 8 << 20

/**
 * One file of real zeros, written ahead in the background (J11). A write into it allocates nothing, so its sync costs
 * half of a growing file's sync, and it works when the disk is full.
 */
export class SpareFile {
  readonly #disk: Disk
  readonly #path: string
  readonly #directory: string
  readonly #bytes: number
  #making: Promise<void> | undefined
  #ready: DiskFile | undefined
  /** The spare that is being made was discarded meanwhile. */
  #isUnwanted = false
  #failure: unknown

  /** `directory` holds `path`; `bytes` is the length of the file. The file of an earlier run is replaced by `prepare`. */
  constructor(disk: Disk, directory: string, path: string, bytes: number) {
    this.#disk = disk
    this.#directory = directory
    this.#path = path
    this.#bytes = bytes
  }

  /** Whether a spare can be taken now. */
  get ready(): boolean {
    return this.#ready !== undefined
  }

  /** Why the last attempt to make one failed, if it did. */
  get failure(): unknown {
    return this.#failure
  }

  /** Starts making a spare unless there is one or one is being made. Never rejects: see `failure`. */
  prepare(): Promise<void> {
    if (this.#ready !== undefined) return Promise.resolve()
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined
    })
    return this.#making
  }

  /**
   * Returns the spare, open, under its new name, with `head` at its start; both are durable. Undefined when none is
   * ready.
   */
  take(path: string, head: Buffer): DiskFile | undefined {
    const file = this.#ready
    if (file === undefined) return undefined
    this.#ready = undefined
    file.writeAt(head, 0)
    file.sync()
    this.#disk.rename(this.#path, path)
    this.#disk.syncDirectory(this.#directory)
    return file
  }

  /** Frees the space of a spare that is ready or being made. */
  discard(): void {
    this.#isUnwanted = this.#making !== undefined
    this.#ready?.close()
    this.#ready = undefined
    this.#disk.remove(this.#path)
  }

  /** Gives back all but the first `bytes` of a spare that is ready. It can no longer be taken, and stays where it is. */
  shrink(bytes: number): void {
    const file = this.#ready
    if (file === undefined) return
    this.#ready = undefined
    file.truncate(bytes)
    file.close()
  }

  /** Stops work in the background and closes; a spare that is ready is removed. */
  async close(): Promise<void> {
    if (this.#ready !== undefined || this.#making !== undefined) this.discard()
    await this.#making
  }

  /** If the file cannot be closed or removed, the next start removes it. */
  async #giveUp(file: DiskFile | undefined): Promise<void> {
    try {
      await file?.closeAsync()
      this.#disk.remove(this.#path)
    } catch (error) {
      this.#failure ??= error
    }
  }

  async #make(): Promise<void> {
    let file: DiskFile | undefined
    this.#isUnwanted = false
    try {
      this.#disk.remove(this.#path)
      const { availableBytes } = this.#disk.space(this.#directory)
      if (availableBytes < this.#bytes + BESIDE_BYTES)
        throw new DiskFullError(`${this.#path}: no space for a spare file`)
      file = await this.#disk.createAsync(this.#path)
      // Synced step by step: one sync of the whole file would delay the syncs of the journal.
      for (let at = 0; at < this.#bytes && !this.#isUnwanted; at += STEP_BYTES) {
        await file.writeAtAsync(ZEROS.subarray(0, Math.min(STEP_BYTES, this.#bytes - at)), at)
        await file.syncAsync()
      }
      this.#failure = undefined
      if (this.#isUnwanted) await this.#giveUp(file)
      else this.#ready = file
    } catch (error) {
      this.#failure = error
      await this.#giveUp(file)
    }
  }
}
