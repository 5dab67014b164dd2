import { join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Disk } from '../../../engine/disk/disk.ts'
import { type StorePaths, volumeNumber } from '../../../engine/disk/store-paths.ts'
import { fileBytes } from '../../../engine/payloads/file-format.ts'
import { isPayloadName } from '../../../engine/payloads/payload-ids.ts'
import { type PhysicalBytes, physicalBytes } from './physical-bytes.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { HolderSearch, type PayloadHolder } from '../../../projections/catalog/payload-holders.ts'
import type { CatalogSnapshot, StoredPayload } from '../../../projections/catalog/catalog-snapshot.ts'

/** Rows and files examined before other work gets a turn. */
const SLICE = 500
/** Findings of a page. A page that reaches this number ends, and the next page continues after it. */
const FINDINGS_MAXIMUM = 1000
/** Objects listed for one missing payload, which copies share. */
const OBJECTS_MAXIMUM = 10

/** A file that nothing refers to. */
interface Orphan {
  readonly kind: 'payload-file' | 'volume'
  readonly name: string
  readonly bytes: number
}

/** A payload that the catalog refers to and whose file is missing or has the wrong length. */
interface Missing {
  readonly kind: 'payload-file' | 'volume'
  readonly name: string
  readonly reason: 'missing' | 'wrong length'
  readonly payload: StoredPayload
}

/** An object whose payload is missing. */
interface AffectedObject {
  readonly bucket: string
  readonly key: string
  /** Undefined for a part of an upload in progress. */
  readonly version: PayloadHolder['version']
}

/** A file at a place where the store did not put it. A repair keeps it. */
interface Foreign {
  /** Below the data directory. */
  readonly path: string
  readonly reason: 'foreign' | 'misplaced'
  readonly bytes: number
}

type Finding = { readonly orphan: Orphan } | { readonly missing: Missing } | { readonly foreign: Foreign }

export interface StorageFindings {
  /** Number of rows and files. */
  readonly examined: number
  /** Where the next page starts; undefined when everything was examined. */
  readonly nextAfter: string | undefined
  readonly orphans: readonly Orphan[]
  /** `objects`: the objects with this payload, at most OBJECTS_MAXIMUM. */
  readonly missing: readonly (Missing & { readonly objects: readonly AffectedObject[] })[]
  readonly foreign: readonly Foreign[]
}

/** One file or row, and its finding. */
interface Step {
  /** Its name in its stage; names ascend. */
  readonly name: string
  readonly finding: Finding | undefined
}

/** Payload files are in 256 directories. */
const FILE_DIRECTORY = /^[0-9a-f]{2}$/

/** Stages in order. A cursor is a stage and a name in it. */
const STAGES = ['payloads', 'files', 'volumes', 'rows'] as const
type Stage = (typeof STAGES)[number]
const CURSOR = /^(payloads|files|volumes|rows):(.*)$/s

/** Parses a cursor. @returns undefined for an invalid text */
export function inspectionCursor(text: string): { readonly stage: Stage; readonly name: string } | undefined {
  const [, stage, name] = CURSOR.exec(text) ?? []
  if (stage === undefined || name === undefined || (stage === 'rows' && !/^\d{1,15}$/.test(name))) return undefined
  return { stage: stage as Stage, name }
}

/** Compares the payload files and volumes on the disk with the catalog, both ways, page by page. */
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

  physicalBytes(snapshot: CatalogSnapshot): PhysicalBytes {
    return physicalBytes(this.#disk, this.#paths, snapshot)
  }

  /** Bytes of uploads that are being received. */
  arrivingBytes(): number {
    const names = this.#disk.list(this.#paths.uploads)
    return names.reduce((sum, name) => sum + this.#disk.sizeOf(join(this.#paths.uploads, name)), 0)
  }

  /**
   * Examines at most `maximum` files and rows, in turns with other work.
   * @param after `nextAfter` of the page before
   */
  async inspect(maximum: number, after?: ReturnType<typeof inspectionCursor>): Promise<StorageFindings> {
    const orphans: Orphan[] = []
    const missing: Missing[] = []
    const foreign: Foreign[] = []
    let examined = 0
    let last: string | undefined
    for (const { cursor, finding } of this.#examine(after)) {
      const found = orphans.length + missing.length + foreign.length
      if (examined === maximum || found === FINDINGS_MAXIMUM) {
        return { examined, nextAfter: last, orphans, missing: await this.#withObjects(missing), foreign }
      }
      examined += 1
      last = cursor
      if (finding !== undefined) {
        if ('orphan' in finding) orphans.push(finding.orphan)
        else if ('missing' in finding) missing.push(finding.missing)
        else foreign.push(finding.foreign)
      }
      if (examined % SLICE === 0) await setImmediate()
    }
    return { examined, nextAfter: undefined, orphans, missing: await this.#withObjects(missing), foreign }
  }

  /** Names the objects of missing payloads, in turns with other work. */
  async #withObjects(missing: readonly Missing[]): Promise<StorageFindings['missing']> {
    const search = new HolderSearch(
      missing.map(({ payload }) => payload),
      OBJECTS_MAXIMUM,
    )
    while (this.#catalog.snapshot().searchHolders(search, SLICE)) await setImmediate()
    const buckets = new Map(
      this.#catalog
        .snapshot()
        .buckets()
        .map(({ id, name }) => [id, name]),
    )
    return missing.map((each) => {
      const holders = search.holdersOf(each.payload.payload)
      // A bucket that was deleted meanwhile has no name any more.
      const objects = holders.flatMap(({ bucketId, key, version }) => {
        const bucket = buckets.get(bucketId)
        return bucket === undefined ? [] : [{ bucket, key, version }]
      })
      return { ...each, objects }
    })
  }

  /** Removes the files that are still orphans; returns their names. */
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

  /** Yields each file and row, with its finding if it has one, and the cursor after it. */
  *#examine(
    after: ReturnType<typeof inspectionCursor>,
  ): Generator<{ readonly cursor: string; readonly finding: Finding | undefined }> {
    const first = after === undefined ? 0 : STAGES.indexOf(after.stage)
    for (const [index, stage] of STAGES.slice(first).entries()) {
      const steps = this.#stage(stage, index === 0 ? (after?.name ?? '') : '')
      for (const { name, finding } of steps) yield { cursor: `${stage}:${name}`, finding }
    }
  }

  #stage(stage: Stage, after: string): Iterable<Step> {
    switch (stage) {
      case 'payloads':
        return this.#payloadDirectory(after)
      case 'files':
        return this.#payloadFiles(after)
      case 'volumes':
        return this.#volumeFiles(after)
      case 'rows':
        return this.#rows(Number(after))
    }
  }

  *#payloadDirectory(after: string): Iterable<Step> {
    const { payloads, volumes, files, uploads } = this.#paths
    for (const name of this.#disk.list(payloads).filter((one) => one > after)) {
      const path = join(payloads, name)
      const isOurs = [volumes, files, uploads].includes(path)
      yield { name, finding: isOurs ? undefined : this.#foreign(path) }
    }
  }

  /** Names are relative to `payloads/files`: `ab/NAME`. */
  *#payloadFiles(after: string): Iterable<Step> {
    const { files } = this.#paths
    const [afterDirectory = ''] = after.split('/', 1)
    for (const directory of this.#disk.list(files).filter((one) => one >= afterDirectory)) {
      if (!FILE_DIRECTORY.test(directory)) {
        if (directory > after) yield { name: directory, finding: this.#foreign(join(files, directory)) }
        continue
      }
      for (const file of this.#disk.list(join(files, directory))) {
        const name = `${directory}/${file}`
        if (name > after) yield { name, finding: this.#payloadFile(join(files, name), file) }
      }
    }
  }

  *#volumeFiles(after: string): Iterable<Step> {
    const { volumes, volumeSpare } = this.#paths
    for (const name of this.#disk.list(volumes).filter((one) => one > after)) {
      const path = join(volumes, name)
      const isForeign = volumeNumber(name) === undefined && path !== volumeSpare
      yield { name, finding: isForeign ? this.#foreign(path) : this.#orphanVolume(name) }
    }
  }

  *#rows(after: number): Iterable<Step> {
    let last = after
    for (;;) {
      const rows = this.#catalog.snapshot().storedPayloads(last, SLICE)
      for (const row of rows) {
        const missing = this.#missingOf(row)
        yield { name: String(row.payload), finding: missing && { missing } }
        last = row.payload
      }
      if (rows.length === 0) return
    }
  }

  #foreign(path: string, reason: Foreign['reason'] = 'foreign'): Finding {
    return { foreign: { path: relative(this.#paths.root, path), reason, bytes: this.#disk.sizeOf(path) } }
  }

  #payloadFile(path: string, name: string): Finding | undefined {
    if (!isPayloadName(name)) return this.#foreign(path)
    if (path !== this.#paths.file(name)) return this.#foreign(path, 'misplaced')
    if (name.startsWith(this.#start) || this.#catalog.snapshot().payloadFileIsUsed(name)) return undefined
    return { orphan: { kind: 'payload-file', name, bytes: this.#disk.sizeOf(path) } }
  }

  #missingOf(payload: StoredPayload): Missing | undefined {
    const { location } = payload
    if (location.kind === 'parts') return undefined
    const isFile = location.kind === 'file'
    const path = isFile ? this.#paths.file(location.name) : this.#paths.volume(location.volume)
    const name = isFile ? location.name : String(location.volume)
    const kind = isFile ? 'payload-file' : 'volume'
    const size = this.#disk.sizeOf(path)
    if (size === 0 && !this.#disk.exists(path)) return { kind, name, reason: 'missing', payload }
    const isWhole = isFile
      ? size === fileBytes(location.sealed ? 'sealed' : 'plain', location.length)
      : size >= location.offset + location.length
    return isWhole ? undefined : { kind, name, reason: 'wrong length', payload }
  }

  #orphanVolume(name: string): Finding | undefined {
    if (!this.#volumeIsOrphan(name)) return undefined
    return { orphan: { kind: 'volume', name, bytes: this.#disk.sizeOf(join(this.#paths.volumes, name)) } }
  }

  /** Whether a volume older than the newest has no row, because the journal has its removal. */
  #volumeIsOrphan(name: string): boolean {
    const volume = volumeNumber(name)
    if (volume === undefined) return false
    const volumes = this.#catalog.snapshot().volumes()
    const newest = volumes.at(-1)?.volume ?? 0
    return volume < newest && !volumes.some((other) => other.volume === volume)
  }
}
