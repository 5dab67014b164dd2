import { crc32 } from '../hashing/crc32.ts'
import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../brands.ts'
import type { Disk, DiskFile } from '../disk/disk.ts'
import { type StorePaths, segmentFirstSequence } from '../disk/store-paths.ts'
import { NewerFormatError, StoreUnreleasedError } from '../errors.ts'
import { FORMAT_VERSION, HASH_BYTES, readUint64, SEGMENT_HEADER, UNRELEASED_MAGIC, writeUint64 } from './format.ts'

const UNRELEASED =
  'STORE_UNRELEASED: a version before 1.0.0, which was never released, wrote the journal; no released version reads it. ' +
  'Start the build that wrote it, and copy its objects over S3 into a new store; its own backup keeps the old one'

/** First sequences of all segments, ascending. They are the names of the files. */
export function segmentFirsts(disk: Disk, paths: StorePaths): Sequence[] {
  return disk.list(paths.journal).flatMap((name) => segmentFirstSequence(name) ?? [])
}

/** The fields of a segment header. Hashes are 32 bytes, the deployment id 16. */
export interface SegmentHeader {
  readonly segmentNumber: number
  readonly firstSequence: Sequence
  readonly firstBatch: number
  readonly createdMicroseconds: Microseconds
  readonly deploymentId: Uint8Array
  /** Hash of the record before the first one. */
  readonly chainHead: Uint8Array
  /** Content digest in the seal of the segment before. */
  readonly previousDigest: Uint8Array
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER.bytes)
  bytes.write(SEGMENT_HEADER.magic, 0, 'ascii')
  bytes.writeUInt16BE(FORMAT_VERSION, SEGMENT_HEADER.versionAt)
  bytes.writeUInt16BE(SEGMENT_HEADER.bytes, SEGMENT_HEADER.headerLengthAt)
  writeUint64(bytes, header.segmentNumber, SEGMENT_HEADER.segmentNumberAt)
  writeUint64(bytes, header.firstSequence, SEGMENT_HEADER.firstSequenceAt)
  writeUint64(bytes, header.firstBatch, SEGMENT_HEADER.firstBatchAt)
  writeUint64(bytes, header.createdMicroseconds, SEGMENT_HEADER.createdAt)
  bytes.set(header.deploymentId, SEGMENT_HEADER.deploymentIdAt)
  bytes.set(header.chainHead, SEGMENT_HEADER.chainHeadAt)
  bytes.set(header.previousDigest, SEGMENT_HEADER.previousDigestAt)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, SEGMENT_HEADER.checksumAt)), SEGMENT_HEADER.checksumAt)
  return bytes
}

/**
 * The header, or undefined when it is damaged.
 * @throws NewerFormatError, StoreUnreleasedError
 */
export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < SEGMENT_HEADER.bytes) return undefined
  const magic = bytes.toString('latin1', 0, SEGMENT_HEADER.magic.length)
  if (magic !== SEGMENT_HEADER.magic && magic !== UNRELEASED_MAGIC) return undefined
  const stated = bytes.readUInt32BE(SEGMENT_HEADER.checksumAt)
  if (crc32(bytes.subarray(0, SEGMENT_HEADER.checksumAt)) !== stated) return undefined
  if (magic === UNRELEASED_MAGIC) throw new StoreUnreleasedError(UNRELEASED)
  const version = bytes.readUInt16BE(SEGMENT_HEADER.versionAt)
  if (version !== FORMAT_VERSION) {
    const known = `this one knows format ${FORMAT_VERSION}`
    throw new NewerFormatError(`the journal has format ${version}: another version of the program wrote it, ${known}`)
  }
  if (bytes.readUInt16BE(SEGMENT_HEADER.headerLengthAt) !== SEGMENT_HEADER.bytes) return undefined
  const zeros = [
    bytes.subarray(12, SEGMENT_HEADER.segmentNumberAt),
    bytes.subarray(SEGMENT_HEADER.zeroAt, SEGMENT_HEADER.checksumAt),
  ]
  if (zeros.some((part) => part.some((byte) => byte !== 0))) return undefined
  const field = (at: number, length: number) => Uint8Array.from(bytes.subarray(at, at + length))
  return {
    segmentNumber: readUint64(bytes, SEGMENT_HEADER.segmentNumberAt),
    firstSequence: sequenceOf(readUint64(bytes, SEGMENT_HEADER.firstSequenceAt)),
    firstBatch: readUint64(bytes, SEGMENT_HEADER.firstBatchAt),
    createdMicroseconds: microsecondsOf(readUint64(bytes, SEGMENT_HEADER.createdAt)),
    deploymentId: field(SEGMENT_HEADER.deploymentIdAt, SEGMENT_HEADER.deploymentIdBytes),
    chainHead: field(SEGMENT_HEADER.chainHeadAt, HASH_BYTES),
    previousDigest: field(SEGMENT_HEADER.previousDigestAt, HASH_BYTES),
  }
}

/**
 * A segment that is open for reading, plain or cold. Positions and lengths are those in the plain segment. All readers
 * of segments use it; only `journal.ts` writes segments.
 */
export interface SegmentFile extends Pick<DiskFile, 'path' | 'readAt' | 'readAtAsync' | 'size' | 'close'> {
  readonly isCold: boolean
  /** Length of the file. */
  readonly storedBytes: number
}

const ZEROS = Buffer.alloc(1 << 20)

/**
 * Creates a segment without a spare, filled with zeros to `capacityBytes`. It is written under another name and
 * renamed, so a half-written segment is never seen.
 */
export function createSegment(
  disk: Disk,
  paths: StorePaths,
  firstSequence: Sequence,
  bytes: Buffer,
  capacityBytes: number = bytes.length,
): DiskFile {
  const making = `${paths.segment(firstSequence)}.making`
  disk.remove(making)
  const file = disk.create(making)
  file.writeAt(bytes, 0)
  for (let at = bytes.length; at < capacityBytes; at += ZEROS.length) {
    file.writeAt(ZEROS.subarray(0, Math.min(ZEROS.length, capacityBytes - at)), at)
  }
  file.sync()
  disk.rename(making, paths.segment(firstSequence))
  disk.syncDirectory(paths.journal)
  return file
}
