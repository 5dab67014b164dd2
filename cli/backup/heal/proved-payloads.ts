import { createHash } from 'node:crypto'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import { type FileLocation, PayloadReader, type VolumeLocation } from '../../../engine/payloads/payload-reader.ts'
import type { PayloadSealer } from '../../../engine/payloads/sealing.ts'

export type StoredLocation = VolumeLocation | FileLocation

/** Payloads of a directory, held against the SHA-256 of the journal, which finds accidents and intent. */
export class ProvedPayloads {
  readonly #reader: PayloadReader

  constructor(disk: Disk, paths: StorePaths, sealer: PayloadSealer | undefined) {
    this.#reader = new PayloadReader(disk, paths, sealer)
  }

  /**
   * Why a place does not have the bytes of a payload; undefined when it has.
   * @throws the errors of the disk, but EIO, which is a fault
   */
  async faultOf(location: StoredLocation, digest: Uint8Array): Promise<string | undefined> {
    try {
      if (location.kind === 'volume') {
        this.#reader.readSmall(location, digest)
        return undefined
      }
      return (await this.#digestOf(location)).equals(digest)
        ? undefined
        : `file ${location.name}: SHA-256 does not match`
    } catch (error) {
      if (error instanceof PayloadDamagedError) return error.message
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EIO') return message
      throw error
    }
  }

  close(): void {
    this.#reader.close()
  }

  async #digestOf(location: FileLocation): Promise<Buffer> {
    const reader = await this.#reader.openLarge(location, 0, location.length)
    const hash = createHash('sha256')
    try {
      for (let piece = await reader.next(); piece !== undefined; piece = await reader.next()) hash.update(piece)
    } finally {
      reader.close()
    }
    return hash.digest()
  }
}
