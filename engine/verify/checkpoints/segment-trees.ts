import {
  BATCH_HEADER_BYTES,
  batchBytes,
  paddedRecordBytes,
  readBatchHeader,
  readUnsigned64,
  RECORD,
  SEGMENT_HEADER_BYTES,
  trailerFault,
} from '../format-reader.ts'
import { type JournalFiles, REAL_FILES } from '../journal-files.ts'
import { SegmentWindow } from '../segment-window.ts'
import { CompactRange, type RangeNodes } from './compact-range.ts'
import { HASH_BYTES, TreeHasher } from './tree-hasher.ts'

/** A segment whose records become leaves. Plain data: it is sent to a worker thread. */
export interface TreeJob {
  readonly path: string
  readonly firstSequence: number
  /** The first record that becomes a leaf. */
  readonly from: number
  /** Sizes of trees that end in the segment or with it, ascending: what of them it covers is wanted. */
  readonly sizes: readonly number[]
  /** No record from this sequence on is wanted. */
  readonly limit: number
}

/** The nodes that a part of a segment adds to both trees. */
export interface TwoRanges {
  readonly log: RangeNodes
  readonly bundle: RangeNodes
}

const WINDOW_BYTES = 1024 * 1024

/**
 * Makes leaves of the hashes that the records of a segment state, which were verified before.
 * @returns a part up to each size, and the rest; as far as the records can be read
 * @throws the system's error when the file cannot be read
 */
export function treesOfSegment(
  { path, firstSequence, from, sizes, limit }: TreeJob,
  files: JournalFiles = REAL_FILES,
): TwoRanges[] {
  const log = new CompactRange(TreeHasher.log(), from)
  const bundle = new CompactRange(TreeHasher.bundle(), from)
  const parts: TwoRanges[] = []
  const take = (): void => void parts.push({ log: log.take(), bundle: bundle.take() })
  forEachHash({ path, firstSequence, limit }, files, (hash, next) => {
    if (next <= from) return
    log.append(hash)
    bundle.append(hash)
    if (next === sizes[parts.length]) take()
  })
  take()
  return parts
}

/** Calls `take` with the hash of each record and the sequence after it, up to the limit or to the first that cannot be read. */
function forEachHash(
  { path, firstSequence, limit }: Pick<TreeJob, 'path' | 'firstSequence' | 'limit'>,
  files: JournalFiles,
  take: (hash: Uint8Array, next: number) => void,
): void {
  const window = new SegmentWindow(path, { digests: false, windowBytes: WINDOW_BYTES, files })
  try {
    let sequence = firstSequence
    for (let offset = SEGMENT_HEADER_BYTES; sequence < limit && window.ensure(offset, BATCH_HEADER_BYTES); ) {
      const header = readBatchHeader(window.bytes, offset - window.base)
      if ('fault' in header || !window.ensure(offset, batchBytes(header))) return
      if (trailerFault(window.bytes, offset - window.base, header) !== undefined) return
      let position = offset - window.base + BATCH_HEADER_BYTES
      const end = position + header.recordBytes
      while (position < end && sequence < limit) {
        if (readUnsigned64(window.bytes, position + RECORD.sequence) !== sequence) return
        sequence += 1
        take(window.memory.subarray(position, position + HASH_BYTES), sequence)
        position += paddedRecordBytes(window.bytes.readUInt32BE(position + RECORD.length))
      }
      offset += batchBytes(header)
    }
  } finally {
    window.close()
  }
}
