/** A sample journal, and ways to damage it. */
import { Unpackr } from 'msgpackr/index-no-eval'
import { type BuilderOptions, JournalBuilder } from './journal-builder.ts'
import {
  type BatchFields,
  encodeHeadSlot,
  packBody,
  type RecordFields,
  repairBatch,
  repairSegmentHeader,
} from './journal-bytes.ts'

export interface DamagedJournal {
  readonly name: string
  readonly options?: BuilderOptions
  /** Damages the journal; what it returns is written as HEAD in the place of a right one. */
  readonly damage?: (journal: JournalBuilder) => Buffer | undefined
  /** Place of the segment in the journal, offset, sequence and verdict of the first problem. */
  readonly first: readonly [segment: number, offset: number, sequence: number, verdict: string]
}

/** A journal that is damaged after it was built. */
export function damaged(
  name: string,
  first: DamagedJournal['first'],
  damage: (journal: JournalBuilder) => Buffer | undefined,
): DamagedJournal {
  return { name, first, damage }
}

/** A journal that was built wrong. */
export function made(name: string, first: DamagedJournal['first'], options: BuilderOptions): DamagedJournal {
  return { name, first, options }
}

/**
 * Three segments, equal bytes each time. Sequences: segment 0 has batches 0 | 1 2 | 3 4 5 | 6 | 7 (seal), segment 1 has
 * 8 9 | 10 (seal), segment 2 has 11 12 13 | 14 15 and zeros.
 */
export function sampleJournal(options: BuilderOptions = {}): JournalBuilder {
  const journal = new JournalBuilder(options)
  journal.entries({ result: 0 }, { intentSequence: 1, changes: [[1, 2, 'photos', 'eu', false]] })
  journal.entries({ resource: 'bucket:photos/a' }, { resource: 'bucket:photos/bcd' }, {})
  journal.entries({ result: 2 })
  journal.seal()
  journal.entries({}, {})
  journal.seal()
  journal.entries({}, {}, {})
  journal.entries({ resource: 'bucket:last' }, {})
  journal.writeAhead(512)
  return journal
}

const sample = sampleJournal()
const unpackr = new Unpackr({ useRecords: false })
const allRecords = sample.segments.flatMap((segment) => segment.batches.flatMap((batch) => batch.records))

/** Offset of a record of the sample journal. */
export function recordAt(sequence: number): number {
  return allRecords.find((record) => record.sequence === sequence)?.offset ?? -1
}

/** Offset of a batch of the sample journal, by its place in its segment. */
export function batchAt(segment: number, batch: number): number {
  return sample.segments[segment]?.batches[batch]?.offset ?? -1
}

/** Offset of the end of data in a segment of the sample journal. */
export function endOf(segment: number): number {
  const last = sample.segments[segment]?.batches.at(-1)
  return (last?.offset ?? 0) + (last?.length ?? 0)
}

/** All bytes of a segment, to be changed in place. */
export function bytesOf(journal: JournalBuilder, segment: number): Buffer {
  return journal.segments[segment]?.bytes ?? Buffer.alloc(0)
}

/** Adds one to the byte at an offset. */
export function bump(journal: JournalBuilder, segment: number, offset: number): undefined {
  const bytes = bytesOf(journal, segment)
  bytes[offset] = ((bytes[offset] ?? 0) + 1) % 256
}

/** Adds one to a byte of a batch and puts the checksums of the batch right. */
export function bumpInBatch(journal: JournalBuilder, segment: number, batch: number, offset: number): undefined {
  bump(journal, segment, offset)
  repairBatch(bytesOf(journal, segment), batchAt(segment, batch))
}

/** Adds one to a byte of a segment header and puts its checksum right. */
export function editHeader(journal: JournalBuilder, segment: number, offset: number): undefined {
  bump(journal, segment, offset)
  repairSegmentHeader(bytesOf(journal, segment))
}

/** Puts other bytes, or none, in the place of some. */
export function replaceBytes(
  journal: JournalBuilder,
  segment: number,
  start: number,
  end: number,
  by: Buffer = Buffer.alloc(0),
): undefined {
  const built = journal.segments[segment]
  if (built !== undefined) built.bytes = Buffer.concat([built.bytes.subarray(0, start), by, built.bytes.subarray(end)])
}

/** Takes a record out of its batch, whose header then says so. */
export function removeRecord(journal: JournalBuilder, segment: number, batch: number, sequence: number): undefined {
  const length = allRecords.find((record) => record.sequence === sequence)?.length ?? 0
  replaceBytes(journal, segment, recordAt(sequence), recordAt(sequence) + length)
  const bytes = bytesOf(journal, segment)
  const offset = batchAt(segment, batch)
  bytes.writeUInt32BE(bytes.readUInt32BE(offset + 24) - 1, offset + 24)
  bytes.writeUInt32BE(bytes.readUInt32BE(offset + 28) - length, offset + 28)
  repairBatch(bytes, offset)
}

/** Takes a whole segment away. */
export function removeSegment(journal: JournalBuilder, segment: number): undefined {
  journal.segments.splice(segment, 1)
}

/** Gives the bytes of two segments each other's names. */
export function swapSegments(journal: JournalBuilder): undefined {
  const [first, second] = journal.segments
  if (first === undefined || second === undefined) return
  const bytes = first.bytes
  first.bytes = second.bytes
  second.bytes = bytes
}

/** Alters the record with a sequence before it is hashed. */
export function altered(sequence: number, alter: (record: RecordFields) => void): BuilderOptions {
  return { alterRecord: (record) => void (record.sequence === sequence && alter(record)) }
}

/** Alters the batch with a number before its checksums are made. */
export function alteredBatch(batchNumber: number, alter: (batch: BatchFields) => void): BuilderOptions {
  return { alterBatch: (batch) => void (batch.batchNumber === batchNumber && alter(batch)) }
}

/** Alters one value of the body of a record. */
export function alteredValue(sequence: number, index: number, value: unknown): BuilderOptions {
  return altered(sequence, (record) => {
    const values: unknown[] = unpackr.unpack(record.body)
    values[index] = value
    record.body = packBody(values)
  })
}

/** HEAD with a mark that differs from the right one. */
export function headWith(
  journal: JournalBuilder,
  fields: { sequence?: number; batchNumber?: number; hash?: Buffer },
): Buffer {
  const right = { sequence: journal.nextSequence - 1, batchNumber: journal.nextBatchNumber - 1, hash: journal.lastHash }
  return Buffer.concat([encodeHeadSlot({ markNumber: 8, cleanStop: false, ...right, ...fields }), Buffer.alloc(4096)])
}

export const CHANGED = 'content changed'
export const BROKEN = 'broken link to the previous record'
export const MISSING = 'record is missing from the log'
export const DAMAGED = 'damaged batch'
export const LOST = 'acknowledged entries lost'
