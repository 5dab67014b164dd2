/**
 * The parts of a journal as bytes, made from `spec/formats/journal.md` without any code of the server. Also an oracle:
 * the server's own journal must consist of the same bytes.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Packr } from 'msgpackr/index-no-eval'

export const KIND = { genesis: 1, seal: 2, change: 3, audit: 4 } as const
const HASH_DOMAIN = Buffer.concat([Buffer.from('object-store/journal-record/v1'), Buffer.alloc(2)])
const packr = new Packr({ useRecords: false })

/** The fields of a record before it is hashed. */
export interface RecordFields {
  kind: number
  bodyVersion: number
  sequence: number
  /** Microseconds since 1970. */
  time: number
  previousHash: Buffer
  body: Buffer
}

/** The fields of a batch header before its checksum. */
export interface BatchFields {
  flags: number
  batchNumber: number
  firstSequence: number
  recordCount: number
  segmentNumber: number
}

export interface SegmentHeaderFields {
  segmentNumber: number
  firstSequence: number
  firstBatchNumber: number
  creationTime: number
  deploymentId: Buffer
  chainHead: Buffer
  previousDigest: Buffer
}

export interface HeadSlotFields {
  markNumber: number
  sequence: number
  batchNumber: number
  hash: Buffer
  cleanStop: boolean
  bootId?: string
}

/** What an entry says; everything has a default. */
export interface EntryFields {
  result?: number
  principal?: string
  credentialId?: string | null
  sourceAddress?: string | null
  requestId?: string | null
  operation?: string
  resource?: string
  intentSequence?: number | null
  metadata?: readonly (string | number)[]
  /** Without changes the entry is an audit record only. */
  changes?: readonly unknown[]
}

export function packBody(values: readonly unknown[]): Buffer {
  return Buffer.from(packr.pack(values))
}

export function entryBody(entry: EntryFields): Buffer {
  const audit = [
    entry.result ?? 1,
    entry.principal ?? 'service_account:builder',
    entry.credentialId ?? null,
    entry.sourceAddress ?? null,
    entry.requestId ?? null,
    entry.operation ?? 's3:GET',
    entry.resource ?? 'bucket:photos/cat.jpg',
    entry.intentSequence ?? null,
    entry.metadata ?? [],
  ]
  return packBody(entry.changes === undefined ? audit : [...audit, entry.changes])
}

/** The hash of a record whose bytes are complete but for the hash field. */
export function recordHash(record: Buffer, bodyBytes: number): Buffer {
  return createHash('sha256')
    .update(HASH_DOMAIN)
    .update(record.subarray(32, 88 + bodyBytes))
    .digest()
}

/** Gives a record a time of the host, in microseconds, before its body. */
export function withHostTime(record: RecordFields, host: number): void {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(host))
  record.bodyVersion = 2
  record.body = Buffer.concat([time, record.body])
}

export function encodeRecord(fields: RecordFields): { bytes: Buffer; hash: Buffer } {
  const bytes = Buffer.alloc(Math.ceil((88 + fields.body.length) / 8) * 8)
  bytes.writeUInt32BE(fields.body.length, 32)
  bytes.writeUInt16BE(fields.kind, 36)
  bytes.writeUInt16BE(fields.bodyVersion, 38)
  bytes.writeBigUInt64BE(BigInt(fields.sequence), 40)
  bytes.writeBigUInt64BE(BigInt(fields.time), 48)
  fields.previousHash.copy(bytes, 56)
  fields.body.copy(bytes, 88)
  const hash = recordHash(bytes, fields.body.length)
  hash.copy(bytes, 0)
  return { bytes, hash }
}

export function encodeBatch(fields: BatchFields, records: Buffer): Buffer {
  const bytes = Buffer.alloc(64 + records.length + 8)
  bytes.write('OSJB', 0, 'ascii')
  bytes.writeUInt16BE(1, 4)
  bytes.writeUInt16BE(fields.flags, 6)
  bytes.writeBigUInt64BE(BigInt(fields.batchNumber), 8)
  bytes.writeBigUInt64BE(BigInt(fields.firstSequence), 16)
  bytes.writeUInt32BE(fields.recordCount, 24)
  bytes.writeUInt32BE(records.length, 28)
  bytes.writeBigUInt64BE(BigInt(fields.segmentNumber), 32)
  records.copy(bytes, 64)
  bytes.write('OSJE', 64 + records.length + 4, 'ascii')
  repairBatch(bytes, 0)
  return bytes
}

/** Puts the checksums of a batch right again, as somebody would who changes what it holds. */
export function repairBatch(bytes: Buffer, offset: number): void {
  bytes.writeUInt32BE(crc32(bytes.subarray(offset, offset + 60)), offset + 60)
  const trailer = offset + 64 + bytes.readUInt32BE(offset + 28)
  bytes.writeUInt32BE(crc32(bytes.subarray(offset, trailer)), trailer)
}

/** Puts the hash of a record right again. */
export function repairRecord(bytes: Buffer, offset: number): void {
  const record = bytes.subarray(offset)
  recordHash(record, record.readUInt32BE(32)).copy(bytes, offset)
}

/** Puts the checksum of a segment header right again. */
export function repairSegmentHeader(bytes: Buffer): void {
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 252)), 252)
}

export function segmentName(firstSequence: number): string {
  return `${String(firstSequence).padStart(16, '0')}.segment`
}

export function encodeSegmentHeader(fields: SegmentHeaderFields): Buffer {
  const bytes = Buffer.alloc(256)
  bytes.write('OSJOURNL', 0, 'ascii')
  bytes.writeUInt16BE(1, 8)
  bytes.writeUInt16BE(256, 10)
  bytes.writeBigUInt64BE(BigInt(fields.segmentNumber), 16)
  bytes.writeBigUInt64BE(BigInt(fields.firstSequence), 24)
  bytes.writeBigUInt64BE(BigInt(fields.firstBatchNumber), 32)
  bytes.writeBigUInt64BE(BigInt(fields.creationTime), 40)
  fields.deploymentId.copy(bytes, 48)
  fields.chainHead.copy(bytes, 64)
  fields.previousDigest.copy(bytes, 96)
  repairSegmentHeader(bytes)
  return bytes
}

export function encodeHeadSlot(fields: HeadSlotFields): Buffer {
  const slot = Buffer.alloc(4096)
  slot.write('OSTHEAD1', 0, 'ascii')
  slot.writeBigUInt64BE(BigInt(fields.markNumber), 8)
  slot.writeBigUInt64BE(BigInt(fields.sequence), 16)
  slot.writeBigUInt64BE(BigInt(fields.batchNumber), 24)
  fields.hash.copy(slot, 32)
  slot[64] = fields.cleanStop ? 1 : 0
  slot.write(fields.bootId ?? '6b1f0c5e-3c2f-4a52-9a4e-0f3d6c1b2a90', 65, 'ascii')
  slot.writeUInt32BE(crc32(slot.subarray(0, 128)), 128)
  return slot
}
