import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Disk } from '../../engine/disk/disk.ts'
import { type StorePaths, volumeNumber } from '../../engine/disk/store-paths.ts'
import { fileBytes } from '../../engine/payloads/file-format.ts'
import type { CatalogReader, StoredPayload } from '../../projections/catalog-reader.ts'

/** Names that the store gives; what else lies there is somebody else's and is left alone. */
const PAYLOAD_FILE_NAME = /^[0-9a-f]{28}$/
/** Rows and files looked at before others get a turn. */
const SLICE = 500
/** Findings of each kind that are named. */
const NAMED_MAXIMUM = 1000

/** A file that nothing refers to. */
export interface Orphan {
  readonly kind: 'payload-file' | 'volume'
  readonly name: string
  readonly bytes: number
}

/** Something that the catalog refers to and that is not there, or not as long as it must be. */
export interface Missing {
  readonly kind: 'payload-file' | 'volume'
  readonly name: string
  readonly reason: 'missing' | 'wrong length'
}

export interface StorageFindings {
  /** Rows and files that were looked at. */
  readonly examined: number
  /** True when there were more. */
  readonly truncated: boolean
  readonly orphans: readonly Orphan[]
  readonly missing: readonly Missing[]
}

/** Holds the payload files and volumes on the disk against the catalog, both ways. */
export class StorageInspection {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #catalog: CatalogReader
  readonly #start: string

  /** `start`: name of the running start; its files may belong to requests that are still under way. */
  constructor(disk: Disk, paths: StorePaths, catalog: CatalogReader, start: string) {
    this.#disk = disk
    this.#paths = paths
    this.#catalog = catalog
    this.#start = start
  }

  /** Bytes of uploads that are being received. */
  arrivingBytes(): number {
    const names = this.#disk.list(this.#paths.uploads)
    return names.reduce((sum, name) => sum + this.#disk.sizeOf(join(this.#paths.uploads, name)), 0)
  }

  /** Looks at no more than `maximum` rows and files, in turns with everything else. */
  async inspect(maximum: number): Promise<StorageFindings> {
    const orphans: Orphan[] = []
    const missing: Missing[] = []
    let examined = 0
    for (const finding of this.#look()) {
      if (examined === maximum) return { examined, truncated: true, orphans, missing }
      examined += 1
      if (finding !== undefined && 'bytes' in finding && orphans.length < NAMED_MAXIMUM) orphans.push(finding)
      if (finding !== undefined && 'reason' in finding && missing.length < NAMED_MAXIMUM) missing.push(finding)
      if (examined % SLICE === 0) await setImmediate()
    }
    return { examined, truncated: false, orphans, missing }
  }

  /** Removes orphans that still are; names those that were removed. */
  async remove(orphans: readonly Orphan[]): Promise<string[]> {
    const removed: string[] = []
    for (const { kind, name } of orphans) {
      if (kind === 'payload-file' ? this.#catalog.payloadFileIsUsed(name) : !this.#volumeIsOrphan(name)) continue
      const path = kind === 'payload-file' ? this.#paths.file(name) : join(this.#paths.volumes, name)
      await this.#disk.removeLater(path)
      removed.push(name)
    }
    return removed
  }

  /** One step for each row and file, with what is wrong about it. */
  *#look(): Generator<Orphan | Missing | undefined> {
    let after = 0
    for (;;) {
      const rows = this.#catalog.storedPayloads(after, SLICE)
      for (const row of rows) yield this.#missingOf(row)
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.payload
    }
    for (const directory of this.#disk.list(this.#paths.files)) {
      for (const name of this.#disk.list(join(this.#paths.files, directory))) yield this.#orphanFile(name)
    }
    for (const name of this.#disk.list(this.#paths.volumes)) yield this.#orphanVolume(name)
  }

  #missingOf({ location }: StoredPayload): Missing | undefined {
    if (location.kind === 'parts') return undefined
    const isFile = location.kind === 'file'
    const path = isFile ? this.#paths.file(location.name) : this.#paths.volume(location.volume)
    const name = isFile ? location.name : String(location.volume)
    const kind = isFile ? 'payload-file' : 'volume'
    const size = this.#disk.sizeOf(path)
    if (size === 0 && !this.#disk.exists(path)) return { kind, name, reason: 'missing' }
    const isWhole = isFile
      ? size === fileBytes(location.sealed ? 'sealed' : 'plain', location.length)
      : size >= location.offset + location.length
    return isWhole ? undefined : { kind, name, reason: 'wrong length' }
  }

  #orphanFile(name: string): Orphan | undefined {
    if (!PAYLOAD_FILE_NAME.test(name) || name.startsWith(this.#start)) return undefined
    if (this.#catalog.payloadFileIsUsed(name)) return undefined
    return { kind: 'payload-file', name, bytes: this.#disk.sizeOf(this.#paths.file(name)) }
  }

  #orphanVolume(name: string): Orphan | undefined {
    if (!this.#volumeIsOrphan(name)) return undefined
    return { kind: 'volume', name, bytes: this.#disk.sizeOf(join(this.#paths.volumes, name)) }
  }

  /** A volume below the newest without a row: its removal is in the journal. */
  #volumeIsOrphan(name: string): boolean {
    const volume = volumeNumber(name)
    if (volume === undefined) return false
    const volumes = this.#catalog.volumes()
    const newest = volumes.at(-1)?.volume ?? 0
    return volume < newest && !volumes.some((other) => other.volume === volume)
  }
}
