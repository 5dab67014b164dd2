import { crc32 } from '../../hashing/crc32.ts'
import { type Microseconds, type Sequence, sequenceOf } from '../../brands.ts'
import type { Disk } from '../../disk/disk.ts'
import { segmentFirstSequence, type StorePaths } from '../../disk/store-paths.ts'
import { decodeEntry, type Entry, encodeEntry } from '../../events/entry-codec.ts'
import { readUint64, RECORD_KIND, writeUint64 } from '../format.ts'
import { JournalDamagedError } from '../journal-errors.ts'
import { readJournalFrom } from '../read-journal.ts'

/**
 * Records of requests that were answered before the journal failed under them (decision 0009), and of repairs while no server
 * ran. They are kept in the journal's folder, and the next start writes them: `journal/unrecorded` (spec/formats/journal.md).
 */
const MAGIC = 'OSTUNRC1'
const AT = { sequence: 8, count: 16, records: 20 } as const
const LENGTH_BYTES = 4
const CHECKSUM_BYTES = 4

/** Metadata of such a record: it was answered before this time, and recorded after it. */
const ANSWERED_BEFORE = 'answered_before'

/**
 * Keeps the bodies of records durably.
 * @param last the last record of the journal that is durable
 * @throws the disk's error
 */
export function keepUnrecorded(
  disk: Disk,
  paths: StorePaths,
  last: Sequence,
  now: Microseconds,
  bodies: readonly Uint8Array[],
): void {
  const time = new Date(now / 1000).toISOString()
  const late = bodies.map((body) => lateRecord(body, time))
  keepRecords(disk, paths, { last, bodies: late })
}

/** The kept records: their bodies, and the last record of the journal when the first of them was kept. */
interface KeptRecords {
  readonly last: Sequence
  readonly bodies: readonly Uint8Array[]
}

/** @throws JournalDamagedError */
export function keptRecords(disk: Disk, paths: StorePaths): KeptRecords | undefined {
  return disk.exists(paths.unrecorded) ? readKept(disk, paths) : undefined
}

/**
 * Replaces the kept records, durably: after a crash there are those before, or these.
 * @throws the disk's error
 */
export function keepRecords(disk: Disk, paths: StorePaths, { last, bodies }: KeptRecords): void {
  const header = Buffer.alloc(AT.records)
  header.write(MAGIC, 0, 'ascii')
  writeUint64(header, last, AT.sequence)
  header.writeUInt32BE(bodies.length, AT.count)
  const framed = Buffer.concat([header, ...bodies.flatMap(frame)])
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32BE(crc32(framed))
  const making = `${paths.unrecorded}.making`
  disk.remove(making)
  const file = disk.create(making)
  try {
    file.writeAt(Buffer.concat([framed, checksum]), 0)
    file.sync()
  } finally {
    file.close()
  }
  disk.rename(making, paths.unrecorded)
  disk.syncDirectory(paths.journal)
}

/** @returns the bodies that are not in the journal yet; a start that crashed may have written some or all */
export function unrecordedBodies(disk: Disk, paths: StorePaths): Uint8Array[] {
  disk.remove(`${paths.unrecorded}.making`)
  const kept = keptRecords(disk, paths)
  if (kept === undefined) return []
  const { last, bodies } = kept
  const known = new Set<string>()
  const firsts = disk.list(paths.journal).flatMap((name) => segmentFirstSequence(name) ?? [])
  const from = firsts.findLast((first) => first <= last) ?? sequenceOf(0)
  readJournalFrom(disk, paths, from, ({ kind, body }) => {
    if (kind === RECORD_KIND.audit) addName(known, body)
  })
  return bodies.filter((body) => !known.has(nameOf(decodeEntry(body))))
}

/** All of them are in the journal. */
export function unrecordedAreWritten(disk: Disk, paths: StorePaths): void {
  if (!disk.exists(paths.unrecorded)) return
  disk.remove(paths.unrecorded)
  disk.syncDirectory(paths.journal)
}

function frame(body: Uint8Array): Uint8Array[] {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(body.length)
  return [length, body]
}

function lateRecord(body: Uint8Array, time: string): Buffer {
  const entry = decodeEntry(body)
  const audit = { ...entry, metadata: [...entry.metadata, ANSWERED_BEFORE, time] }
  return Buffer.from(encodeEntry(audit, entry.result, entry.intent, []))
}

/** Skips a record that cannot be decoded. */
function addName(known: Set<string>, body: Buffer): void {
  let entry: Entry
  try {
    entry = decodeEntry(Buffer.from(body))
  } catch {
    return
  }
  known.add(nameOf(entry))
}

/** No request leaves two records with the same name. */
function nameOf({ requestId, operation, resource, result, sourceAddress }: Entry): string {
  return JSON.stringify([requestId, operation, resource, result, sourceAddress])
}

function readKept(disk: Disk, paths: StorePaths): { readonly last: Sequence; readonly bodies: Buffer[] } {
  const bytes = Buffer.alloc(disk.sizeOf(paths.unrecorded))
  const file = disk.openToRead(paths.unrecorded)
  try {
    file.readAt(bytes, 0, bytes.length)
  } finally {
    file.close()
  }
  const end = bytes.length - CHECKSUM_BYTES
  const isWhole = end >= AT.records && crc32(bytes.subarray(0, end)) === bytes.readUInt32BE(end)
  if (!isWhole || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw new JournalDamagedError(
      `${paths.unrecorded} is damaged: it holds records of requests that were answered when the journal failed, or of repairs; move it away to start without them`,
    )
  }
  const bodies: Buffer[] = []
  let at: number = AT.records
  for (let count = bytes.readUInt32BE(AT.count); count > 0; count -= 1) {
    const length = bytes.readUInt32BE(at)
    bodies.push(bytes.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + length))
    at += LENGTH_BYTES + length
  }
  return { last: sequenceOf(readUint64(bytes, AT.sequence)), bodies }
}
