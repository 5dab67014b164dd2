import { hash } from 'node:crypto'
import { join } from 'node:path'
import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { readUint64, writeUint64 } from '../../engine/journal/format.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { POSITION_NUMBERS, positionFrom, SCHEMA_VERSION } from '../tables/applied.ts'

/** The file of a snapshot: spec/formats/snapshot.md. */

/** Bytes of the data that have a digest of their own, and are read or written at once. */
export const BLOCK_BYTES = 4 * 1024 ** 2
const MAGIC = Buffer.from('OBJSNAP1', 'ascii')
const DIGEST_BYTES = 32
const LENGTH_AT = DIGEST_BYTES
const MAGIC_AT = LENGTH_AT + 8
const TRAILER_BYTES = MAGIC_AT + MAGIC.length
/** Of the description: more than a file of LMDB of 64 TiB needs. */
const DESCRIPTION_BYTES_MAXIMUM = 2 ** 30
/** Of a Date, in milliseconds. */
const TIME_MAXIMUM = 8.64e15
const NAME = /^(\d{1,9})-(\d{16})\.snapshot$/

/** A snapshot's description of itself. */
export interface SnapshotDescription {
  /** In hexadecimal. */
  readonly deploymentId: string
  /** The last record that its rows hold: the seal of a segment. */
  readonly position: AppliedPosition
  /** Milliseconds since 1970. */
  readonly createdMilliseconds: number
  readonly dataBytes: number
  /** SHA-256 of each block of the data in hexadecimal. */
  readonly blocks: readonly string[]
  /** Of a file of changes; undefined for a whole snapshot. */
  readonly changes?: ChangesDescription
}

/** What is particular to a file of changes. */
interface ChangesDescription {
  /** Of the last record of the state that they are applied to. */
  readonly from: Sequence
  /** Names of tables, by the number that rows have for them. */
  readonly tables: readonly string[]
  /** Runs of rows in the order of tables and keys; a later one has the newer row. */
  readonly runs: readonly ChangesRun[]
}

/** Where a run is in the data. */
export interface ChangesRun {
  readonly at: number
  readonly bytes: number
}

/** A snapshot in the directory of snapshots, by its name. */
export interface SnapshotName {
  readonly name: string
  readonly path: string
  /** Version of the layout of its tables. */
  readonly version: number
  /** Of the last record that its rows hold. */
  readonly sequence: Sequence
}

/** The snapshot is damaged; the message names the file. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError'
}

/** Snapshots of every version of the tables, the newest first. Other names are ignored. */
export function snapshotNames(disk: Disk, paths: StorePaths): SnapshotName[] {
  const names = disk.list(paths.snapshots).flatMap((name): SnapshotName[] => {
    const [, version, sequence] = NAME.exec(name) ?? []
    if (version === undefined || !Number.isSafeInteger(Number(sequence))) return []
    const path = join(paths.snapshots, name)
    return [{ name, path, version: Number(version), sequence: sequenceOf(Number(sequence)) }]
  })
  return names.sort((left, right) => right.sequence - left.sequence)
}

/** Snapshots whose tables have this program's layout, the newest first. */
export function usableNames(disk: Disk, paths: StorePaths): SnapshotName[] {
  return snapshotNames(disk, paths).filter(({ version }) => version === SCHEMA_VERSION)
}

export function snapshotPath(paths: StorePaths, sequence: Sequence): string {
  return join(paths.snapshots, `${SCHEMA_VERSION}-${String(sequence).padStart(16, '0')}.snapshot`)
}

/** The end of the file, after the data: the description and the trailer. */
export function encodeEnd(description: SnapshotDescription): Buffer {
  const { position, ...others } = description
  const head = Buffer.from(position.head).toString('hex')
  const text = Buffer.from(JSON.stringify({ ...others, blockBytes: BLOCK_BYTES, position: { ...position, head } }))
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.set(hash('sha256', text, 'buffer'), 0)
  writeUint64(trailer, text.length, LENGTH_AT)
  trailer.set(MAGIC, MAGIC_AT)
  return Buffer.concat([text, trailer])
}

/**
 * Reads the description of a snapshot and checks it; the data is not read.
 * @throws SnapshotDamagedError
 */
export function readDescription(file: DiskFile): SnapshotDescription {
  const size = file.size()
  const damaged = (what: string) => new SnapshotDamagedError(`${file.path}: ${what}`)
  const trailer = Buffer.alloc(TRAILER_BYTES)
  if (size < TRAILER_BYTES || file.readAt(trailer, size - TRAILER_BYTES, TRAILER_BYTES) !== TRAILER_BYTES) {
    throw damaged('the file is too short')
  }
  if (!trailer.subarray(MAGIC_AT).equals(MAGIC)) throw damaged('it does not end as a snapshot does')
  const length = readUint64(trailer, LENGTH_AT)
  const dataBytes = size - TRAILER_BYTES - length
  if (dataBytes <= 0 || length > DESCRIPTION_BYTES_MAXIMUM) throw damaged('the length of its description is wrong')
  const text = Buffer.alloc(length)
  if (file.readAt(text, dataBytes, length) !== length) throw damaged('the file became shorter')
  if (!hash('sha256', text, 'buffer').equals(trailer.subarray(0, DIGEST_BYTES))) {
    throw damaged('the digest of its description is wrong')
  }
  const description = decoded(text)
  // Its digest is right, so it was written like this; code after this check never reads past the end of the file.
  const isWhole =
    description?.dataBytes === dataBytes && description.blocks.length === Math.ceil(dataBytes / BLOCK_BYTES)
  if (description === undefined || !isWhole) throw damaged('its description is malformed')
  return description
}

function decoded(text: Buffer): SnapshotDescription | undefined {
  const found = JSON.parse(text.toString()) as Partial<Record<keyof SnapshotDescription | 'blockBytes', unknown>>
  const { deploymentId, createdMilliseconds, dataBytes, blocks } = found
  const position = found.position as Partial<Record<keyof AppliedPosition, unknown>> | null | undefined
  const head = position?.head
  const isRight =
    found.blockBytes === BLOCK_BYTES &&
    isHexadecimal(deploymentId, 16) &&
    isWholeNumber(createdMilliseconds) &&
    createdMilliseconds <= TIME_MAXIMUM &&
    isWholeNumber(dataBytes) &&
    Array.isArray(blocks) &&
    blocks.every((digest) => isHexadecimal(digest, DIGEST_BYTES)) &&
    POSITION_NUMBERS.every((name) => isWholeNumber(position?.[name])) &&
    isHexadecimal(head, DIGEST_BYTES) &&
    (found.changes === undefined || areChanges(found.changes, dataBytes))
  if (!isRight) return undefined
  return {
    ...(found.changes === undefined ? {} : { changes: found.changes as ChangesDescription }),
    deploymentId,
    createdMilliseconds,
    dataBytes,
    blocks: blocks as string[],
    position: positionFrom((name) => Number(position?.[name]), Uint8Array.from(Buffer.from(head, 'hex'))),
  }
}

function areChanges(value: unknown, dataBytes: number): value is ChangesDescription {
  const { from, tables, runs } = value as Partial<Record<keyof ChangesDescription, unknown>>
  return (
    isWholeNumber(from) &&
    Array.isArray(tables) &&
    tables.every((name) => typeof name === 'string') &&
    Array.isArray(runs) &&
    runs.every(({ at, bytes }) => isWholeNumber(at) && isWholeNumber(bytes) && at + bytes <= dataBytes)
  )
}

function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isHexadecimal(value: unknown, bytes: number): value is string {
  return typeof value === 'string' && value.length === 2 * bytes && /^[0-9a-f]*$/.test(value)
}
