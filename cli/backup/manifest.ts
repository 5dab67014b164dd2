import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { FormError } from '../../engine/events/schema/kinds.ts'
import { ExitError } from '../exit-codes.ts'
import { decodeAddition, decodeHead } from './manifest-form.ts'

/**
 * Manifests of a backup (spec/formats/backup.md). Each run adds one, as its last act: unlisted files are unfinished. A
 * manifest is lines of JSON: the point to which the journal goes, then one line for each file that the run added, then
 * the SHA-256 of all lines before. Each states the SHA-256 of the manifest before it.
 */
const FORMAT = 'object-store-backup'
const VERSION = 1
const NAME = /^(\d{10})\.manifest$/
const DIGITS = 10
const WRITE_BYTES = 1 << 20
/** A line names one file, or why a payload is missing. */
const LINE_BYTES_MAXIMUM = 1 << 16

/** A point of the journal at a record that ends a batch. */
export interface JournalPoint {
  readonly sequence: Sequence
  /** Hash of the record, in hexadecimal. */
  readonly hash: string
  /** Number of the batch that the record ends. */
  readonly batch: number
  /** First sequence of the segment that holds it. */
  readonly segment: Sequence
  /** Where the batch ends in an open segment; null when the record is the seal of its segment. */
  readonly offset: number | null
}

/** A payload file, as it is stored. */
export interface StoredFile {
  readonly bytes: number
  /** SHA-256 of the stored bytes, in hexadecimal. */
  readonly sha256: string
}

/** Files and volumes that one run added. */
interface Additions {
  readonly files: Iterable<readonly [string, StoredFile]>
  /** Volume number and the bytes of it that are there. */
  readonly volumes: Iterable<readonly [number, number]>
  /** Payloads that the store itself did not have. */
  readonly missing: readonly string[]
}

/** A finished run. */
export interface BackupRun {
  readonly number: number
  readonly made: string
  readonly point: JournalPoint
  readonly missing: readonly string[]
}

/** The contents of all manifests of a backup. */
export interface BackupContents {
  readonly deploymentId: string
  readonly runs: readonly BackupRun[]
  readonly files: Map<string, StoredFile>
  readonly volumes: Map<number, number>
  /** SHA-256 of the last manifest. */
  readonly lastDigest: string | undefined
}

function manifestName(number: number): string {
  return `${String(number).padStart(DIGITS, '0')}.manifest`
}

/** The directory of the manifests of a backup. */
function manifestsOf(backup: string): string {
  return join(backup, 'manifests')
}

/** Numbers of the manifests, ascending. */
export function manifestNumbers(disk: Disk, backup: string): number[] {
  return disk.list(manifestsOf(backup)).flatMap((name) => {
    const digits = NAME.exec(name)?.[1]
    return digits === undefined ? [] : [Number(digits)]
  })
}

/**
 * Reads and checks every manifest.
 * @throws ExitError `storeDamaged` that names the manifest
 */
export function readManifests(disk: Disk, backup: string): BackupContents {
  const runs: BackupRun[] = []
  const files = new Map<string, StoredFile>()
  const volumes = new Map<number, number>()
  let deploymentId: string | undefined
  let lastDigest: string | undefined
  for (const number of manifestNumbers(disk, backup)) {
    const path = join(manifestsOf(backup), manifestName(number))
    let run: BackupRun | undefined
    const missing: string[] = []
    const digest = readLines(disk, path, (line) => {
      if (run !== undefined) return takeLine(line, path, { files, volumes, missing })
      const { previous, ...head } = headOf(line, path, number)
      if (previous === undefined) {
        // It lists everything: the manifests before it were not removed yet.
        runs.length = 0
        files.clear()
        volumes.clear()
      }
      const before = runs.at(-1)
      if (before !== undefined && number !== before.number + 1) throw damaged(path, 'a manifest is missing before it')
      if (previous !== undefined && previous !== lastDigest) throw damaged(path, 'it does not follow the one before')
      if (deploymentId !== undefined && deploymentId !== head.deploymentId)
        throw damaged(path, 'it is of another store')
      if (before !== undefined && before.point.sequence > head.point.sequence) {
        throw damaged(path, 'its journal goes back')
      }
      deploymentId = head.deploymentId
      run = { number, made: head.made, point: head.point, missing }
    })
    if (run === undefined) throw damaged(path, 'it is damaged or not whole')
    runs.push(run)
    lastDigest = digest
  }
  return { deploymentId: deploymentId ?? '', runs, files, volumes, lastDigest }
}

function headOf(line: unknown, path: string, number: number): ReturnType<typeof decodeHead> {
  const head = (typeof line === 'object' && line !== null ? line : {}) as Readonly<Record<string, unknown>>
  if (head['format'] !== FORMAT) throw damaged(path, 'it is not a manifest of a backup')
  const { version } = head
  if (typeof version === 'number' && version > VERSION) {
    const known = `this program knows version ${VERSION}`
    throw new ExitError('newerFormat', `${path}: a newer version of the program made this backup, ${known}`)
  }
  if (version !== VERSION) throw damaged(path, `its version ${JSON.stringify(version)?.slice(0, 40)} is not known`)
  if (head['number'] !== number) throw damaged(path, 'it has the number of another manifest')
  return decoded(decodeHead, line, path)
}

function takeLine(
  line: unknown,
  path: string,
  { files, volumes, missing }: Pick<BackupContents, 'files' | 'volumes'> & { readonly missing: string[] },
): void {
  const added = decoded(decodeAddition, line, path)
  if ('file' in added) files.set(added.file, { bytes: added.bytes, sha256: added.sha256 })
  else if ('volume' in added) volumes.set(added.volume, added.bytes)
  else missing.push(added.missing)
}

/** @throws ExitError `storeDamaged` that names the field */
function decoded<T>(decode: (line: unknown) => T, line: unknown, path: string): T {
  try {
    return decode(line)
  } catch (error) {
    if (!(error instanceof FormError)) throw error
    throw damaged(path, error.message)
  }
}

/**
 * Reads a manifest line by line, whatever its size, with one line in memory; the last one states the digest of the others.
 * @returns the SHA-256 of all bytes, in hexadecimal
 */
function readLines(disk: Disk, path: string, take: (line: unknown) => void): string {
  const [all, before] = [createHash('sha256'), createHash('sha256')]
  let waiting: Buffer | undefined
  for (const line of linesOf(disk, path)) {
    all.update(line)
    if (waiting !== undefined) {
      before.update(waiting)
      take(parsed(waiting, path))
    }
    waiting = line
  }
  const { sha256 } = (waiting === undefined ? {} : (parsed(waiting, path) ?? {})) as { readonly sha256?: unknown }
  if (sha256 !== before.digest('hex')) throw damaged(path, 'it is damaged or not whole')
  return all.digest('hex')
}

function* linesOf(disk: Disk, path: string): Generator<Buffer, void> {
  const file = disk.openToRead(path)
  try {
    const piece = Buffer.alloc(LINE_BYTES_MAXIMUM)
    let held = Buffer.alloc(0)
    for (let position = 0; ; ) {
      const read = file.readAt(piece, position, piece.length)
      if (read === 0) break
      position += read
      held = Buffer.concat([held, piece.subarray(0, read)])
      let start = 0
      for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n', start)) {
        yield held.subarray(start, end + 1)
        start = end + 1
      }
      held = held.subarray(start)
      if (held.length > LINE_BYTES_MAXIMUM) throw damaged(path, 'it has a line that is too long')
    }
    if (held.length > 0) throw damaged(path, 'it is damaged or not whole')
  } finally {
    file.close()
  }
}

function parsed(line: Buffer, path: string): unknown {
  try {
    return JSON.parse(line.toString())
  } catch {
    throw damaged(path, 'it is damaged or not whole')
  }
}

function damaged(path: string, what: string): ExitError {
  return new ExitError('storeDamaged', `${path}: ${what}`)
}

/**
 * Writes a manifest, which makes the run count: it appears under its name whole and synced, or not at all.
 * @param previous SHA-256 of the manifest before; undefined for the first, and for a manifest that replaces all before
 *   it
 */
export function writeManifest(
  disk: Disk,
  backup: string,
  run: Omit<BackupRun, 'missing'> & { readonly deploymentId: string; readonly previous: string | undefined },
  added: Additions,
): void {
  const { number, made, point, deploymentId, previous = null } = run
  const directory = manifestsOf(backup)
  const making = join(directory, `${manifestName(number)}.making`)
  disk.makeDirectory(directory)
  disk.remove(making)
  const file = disk.create(making)
  try {
    const digest = createHash('sha256')
    let position = 0
    let pending = ''
    const flush = (): void => {
      const bytes = Buffer.from(pending)
      file.writeAt(bytes, position)
      digest.update(bytes)
      position += bytes.length
      pending = ''
    }
    const put = (line: object): void => {
      pending += `${JSON.stringify(line)}\n`
      if (pending.length >= WRITE_BYTES) flush()
    }
    put({ format: FORMAT, version: VERSION, number, previous, deployment_id: deploymentId, made, point })
    for (const [name, stored] of added.files) put({ file: name, ...stored })
    for (const [volume, bytes] of added.volumes) put({ volume, bytes })
    for (const missing of added.missing) put({ missing })
    flush()
    file.writeAt(Buffer.from(`${JSON.stringify({ sha256: digest.digest('hex') })}\n`), position)
    file.sync()
  } finally {
    file.close()
  }
  disk.rename(making, join(directory, manifestName(number)))
  disk.syncDirectory(directory)
}

/** Removes manifests before a number; the manifest with this number lists everything. */
export function removeManifestsBefore(disk: Disk, backup: string, number: number): void {
  const directory = manifestsOf(backup)
  // In descending order: after a crash the remaining ones do not start with a manifest that follows another.
  for (const old of manifestNumbers(disk, backup).toReversed()) {
    if (old < number) disk.remove(join(directory, manifestName(old)))
  }
  disk.syncDirectory(directory)
}

/** A point from its parts. */
export function pointAt(
  sequence: number,
  head: Uint8Array,
  batch: number,
  segment: Sequence,
  offset: number | null,
): JournalPoint {
  return { sequence: sequenceOf(sequence), hash: Buffer.from(head).toString('hex'), batch, segment, offset }
}
