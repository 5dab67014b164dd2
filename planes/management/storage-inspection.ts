import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Disk } from '../../engine/disk/disk.ts'
import { type StorePaths, volumeNumber } from '../../engine/disk/store-paths.ts'
import { fileBytes } from '../../engine/payloads/file-format.ts'
import { isPayloadName } from '../../engine/payloads/payload-ids.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import type { StoredPayload } from '../../projections/catalog/catalog-snapshot.ts'

/** Rows and files examined before other work gets a turn. */
const SLICE = 500
/** Findings of each kind that are named. */
const NAMED_MAXIMUM = 1000

/** A file that nothing refers to. */
interface Orphan {
  readonly kind: 'payload-file' | 'volume'
  readonly name: string
  readonly bytes: number
}

/** Something that the catalog refers to and that is missing or has the wrong length. */
interface Missing {
  readonly kind: 'payload-file' | 'volume'
  readonly name: string
  readonly reason: 'missing' | 'wrong length'
}

export interface StorageFindings {
  /** Number of rows and files. */
  readonly examined: number
  /** True if there were more. */
  readonly truncated: boolean
  readonly orphans: readonly Orphan[]
  readonly missing: readonly Missing[]
}

/** Compares the payload files and volumes on the disk with the catalog, both ways. */
export class StorageInspection {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #catalog: CatalogReader
  readonly #start: string

  /** `start`: name of the running start; its files may belong to requests in progress. */
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

  /** Examines at most `maximum` rows and files, in turns with other work. */
  async inspect(maximum: number): Promise<StorageFindings> {
    const orphans: Orphan[] = []
    const missing: Missing[] = []
    let examined = 0
    for (const finding of this.#examine()) {
      if (examined === maximum) return { examined, truncated: true, orphans, missing }
      examined += 1
      if (finding !== undefined && 'bytes' in finding && orphans.length < NAMED_MAXIMUM) orphans.push(finding)
      if (finding !== undefined && 'reason' in finding && missing.length < NAMED_MAXIMUM) missing.push(finding)
      if (examined % SLICE === 0) await setImmediate()
    }
    return { examined, truncated: false, orphans, missing }
  }

  /** Removes those that are still orphans; returns their names. */
  async remove(orphans: readonly Orphan[]): Promise<string[]> {
    const removed: string[] = []
    for (const { kind, name } of orphans) {
      if (kind === 'payload-file' ? this.#catalog.snapshot().payloadFileIsUsed(name) : !this.#volumeIsOrphan(name))
        continue
      const path = kind === 'payload-file' ? this.#paths.file(name) : join(this.#paths.volumes, name)
      await this.#disk.removeAsync(path)
      removed.push(name)
    }
    return removed
  }

  /** Yields once for each row and file, with its fault if it has one. */
  *#examine(): Generator<Orphan | Missing | undefined> {
    let after = 0
    for (;;) {
      const rows = this.#catalog.snapshot().storedPayloads(after, SLICE)
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
    if (!isPayloadName(name) || name.startsWith(this.#start)) return undefined
    if (this.#catalog.snapshot().payloadFileIsUsed(name)) return undefined
    return { kind: 'payload-file', name, bytes: this.#disk.sizeOf(this.#paths.file(name)) }
  }

  #orphanVolume(name: string): Orphan | undefined {
    if (!this.#volumeIsOrphan(name)) return undefined
    return { kind: 'volume', name, bytes: this.#disk.sizeOf(join(this.#paths.volumes, name)) }
  }

  /** Below the newest volume and without a row: the journal has its removal. */
  #volumeIsOrphan(name: string): boolean {
    const volume = volumeNumber(name)
    if (volume === undefined) return false
    const volumes = this.#catalog.snapshot().volumes()
    const newest = volumes.at(-1)?.volume ?? 0
    return volume < newest && !volumes.some((other) => other.volume === volume)
  }
}
