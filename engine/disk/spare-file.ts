import type { Disk, DiskFile } from './disk.ts'

const STEP_BYTES = 1 << 20
const ZEROS = Buffer.alloc(STEP_BYTES)

/**
 * One file of real zeros, made ahead in the background (J11). A write into it allocates nothing, so its sync costs
 * half of that of a growing file, and it goes on working when the disk is full.
 */
export class SpareFile {
  readonly #disk: Disk
  readonly #path: string
  readonly #directory: string
  readonly #bytes: number
  #making: Promise<void> | undefined
  #ready: DiskFile | undefined
  /** The spare that is being made was given back meanwhile. */
  #isUnwanted = false
  #failure: unknown

  /** `directory` holds `path`; `bytes` is the length to make. What an earlier run left is removed. */
  constructor(disk: Disk, directory: string, path: string, bytes: number) {
    this.#disk = disk
    this.#directory = directory
    this.#path = path
    this.#bytes = bytes
    disk.remove(path)
  }

  /** True when a spare can be taken at once. */
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
   * Gives the spare away under its new name, already open, with `head` durable at its start and the name durable in
   * its directory. Undefined when none is ready.
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

  /** Gives the space back, of a ready spare or of one that is being made. */
  discard(): void {
    this.#isUnwanted = this.#making !== undefined
    this.#ready?.close()
    this.#ready = undefined
    this.#disk.remove(this.#path)
  }

  /** Stops work in the background and closes. */
  async close(): Promise<void> {
    this.discard()
    await this.#making
  }

  /** What cannot be closed or removed on a broken disk is left to the next start. */
  async #giveUp(file: DiskFile | undefined): Promise<void> {
    try {
      await file?.closeLater()
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
      file = await this.#disk.createLater(this.#path)
      // Synced step by step: one sync of the whole would stand in the way of the journal's own for its length.
      for (let at = 0; at < this.#bytes && !this.#isUnwanted; at += STEP_BYTES) {
        await file.writeAtLater(ZEROS.subarray(0, Math.min(STEP_BYTES, this.#bytes - at)), at)
        await file.syncLater()
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
