import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { microsecondsOf, previous, type Sequence } from '../../brands.ts'
import { type Disk, type DiskFile, isDiskFull } from '../../disk/disk.ts'
import type { StorePaths } from '../../disk/store-paths.ts'
import { type CutTail, keepAside } from '../evidence.ts'
import { SEGMENT_HEADER } from '../format.ts'
import type { HeadMark } from '../head-mark.ts'
import { AcknowledgedDataLostError, JournalDamagedError } from '../journal-errors.ts'
import { firstOf, type LastRecord, type NextRecord } from '../positions.ts'
import { readLinkedSegments, type SegmentGap } from './linked-segments.ts'
import { type RecoveryFacts, recoveryCase } from './recovery-cases.ts'
import { RefusedBatchSearch } from './refused-batch.ts'
import type { SegmentFacts } from '../segment-chain.ts'
import { openSegment } from '../segment-file.ts'
import type { SegmentFile } from '../segment.ts'
import { laterBatchFollows, type ScanEnd, SegmentWindow, scanSegment } from '../segment-scan.ts'

/** Facts about the journal from elsewhere: the mark and the projections. */
interface KnownBefore {
  readonly mark: HeadMark | undefined
  /** The last record that the projections have applied. */
  readonly applied: LastRecord | undefined
  /** Payloads or projections exist. */
  readonly wasInUse: boolean
}

/** The end of a journal that can be continued. */
export interface JournalTail {
  readonly segment: SegmentFacts
  /** Offset of the next batch. */
  readonly offset: number
  readonly chain: NextRecord
  readonly sealed: boolean
  /** Content digest in the seal, when the segment is sealed. */
  readonly sealDigest: Uint8Array | undefined
  readonly cut: CutTail | undefined
  /** Segments that are damaged, whose records are all applied. */
  readonly gaps: readonly SegmentGap[]
}

/**
 * Finds the end of the journal and decides by the table of recovery cases.
 * @returns undefined for a new store
 * @throws JournalDamagedError, AcknowledgedDataLostError
 */
export function recoverJournal(disk: Disk, paths: StorePaths, known: KnownBefore): JournalTail | undefined {
  const { segments, gaps, broken } = readLinkedSegments(disk, paths, known.applied?.sequence)
  const last = segments.at(-1)
  const scan = last === undefined || broken !== undefined ? undefined : scanTail(disk, last, known)
  const facts: RecoveryFacts = {
    hasSegments: last !== undefined || broken !== undefined,
    wasInUse: known.wasInUse || known.mark !== undefined || known.applied !== undefined,
    segmentsLink: broken === undefined,
    tail: scan?.end.end ?? 'empty',
    laterBatchFollows: scan?.laterBatch ?? false,
    acknowledgedBeyond: scan?.beyond !== undefined,
  }
  const found = recoveryCase(facts)
  const where = describe(last, scan)
  switch (found.action) {
    case 'create':
      return undefined
    case 'refuse-damaged':
      throw new JournalDamagedError(`${found.name}: ${broken ?? `${where}: ${scan?.end.reason}`}`)
    case 'refuse-lost':
      throw new AcknowledgedDataLostError(`${found.name}: ${scan?.beyond ?? found.cause} (${where})`)
    default: {
      const { end, chain } = scan as TailScan
      const segment = last as SegmentFacts
      const isRefused = end.end === 'refused'
      const cut = found.action === 'cut-tail' ? keepAside(disk, paths, segment, end.offset, isRefused) : undefined
      const sealed = found.action === 'open-next'
      // A segment without a batch knows by its header alone how late the record before it is.
      const isEmpty = chain.nextSequence === segment.header.firstSequence
      const orderMicroseconds = isEmpty ? microsecondsOf(segment.header.createdMicroseconds) : chain.orderMicroseconds
      const timeMicroseconds = isEmpty ? orderMicroseconds : chain.timeMicroseconds
      const next = { ...chain, orderMicroseconds, timeMicroseconds }
      return { segment, offset: end.offset, chain: next, sealed, sealDigest: end.seal?.contentDigest, cut, gaps }
    }
  }
}

function describe(last: SegmentFacts | undefined, scan: TailScan | undefined): string {
  if (last === undefined) return 'no segment'
  return `${last.path}, offset ${scan?.end.offset ?? 0}, sequence ${scan?.chain.nextSequence ?? last.header.firstSequence}`
}

interface TailScan {
  readonly end: Omit<ScanEnd, 'end'> & { readonly end: RecoveryFacts['tail'] }
  readonly chain: NextRecord
  readonly laterBatch: boolean
  /** Why something acknowledged is missing, if it is. */
  readonly beyond: string | undefined
}

function scanTail(disk: Disk, last: SegmentFacts, known: KnownBefore): TailScan {
  const file = openSegment(disk, last.path)
  try {
    const window = new SegmentWindow(file)
    const { header } = last
    const scanned = firstOf(header)
    const refused = new RefusedBatchSearch(known.mark, header)
    const proofs = knownPoints(known)
    let beyond: string | undefined
    const check = (sequence: Sequence, hash: Uint8Array, batch: number) => {
      for (const proof of proofs) {
        if (proof.sequence !== sequence) continue
        if (Buffer.compare(hash, proof.head) !== 0) beyond = `${proof.name} has another hash for sequence ${sequence}`
        else if (proof.batch !== batch) beyond = `${proof.name} has sequence ${sequence} in another batch`
      }
    }
    if (header.firstSequence > 0) check(previous(header.firstSequence), header.chainHead, header.firstBatch - 1)
    const scan = scanSegment(window, header.segmentNumber, SEGMENT_HEADER.bytes, scanned, {
      record: ({ sequence, hash }) => check(sequence, hash, scanned.nextBatch),
      batch: (_, end) => refused.batch(scanned, end),
    })
    const { end, chain } = withoutRefused(scan, scanned, refused)
    for (const { name, sequence } of proofs) {
      if (sequence < chain.nextSequence) continue
      beyond = `${name} holds sequence ${sequence}, the journal ends at ${previous(chain.nextSequence)}`
    }
    const laterBatch =
      !last.isCold &&
      end.end !== 'empty' &&
      end.end !== 'sealed' &&
      laterBatchFollows(window, end.offset, header.segmentNumber, chain.nextBatch)
    return { end, chain, laterBatch, beyond }
  } finally {
    file.close()
  }
}

/** The journal ends before a batch that was refused, whatever the scan found after it. */
function withoutRefused(
  end: ScanEnd,
  chain: NextRecord,
  { found }: RefusedBatchSearch,
): Pick<TailScan, 'end' | 'chain'> {
  if (found === undefined) return { end, chain }
  const reason = `the mark says that batch ${found.chain.nextBatch} was refused`
  return { chain: found.chain, end: { offset: found.offset, end: 'refused', seal: undefined, reason } }
}

type KnownPoint = Omit<LastRecord, 'orderMicroseconds' | 'timeMicroseconds'> & { readonly name: string }

function knownPoints(known: KnownBefore): KnownPoint[] {
  return [
    ...(known.mark === undefined ? [] : [{ name: 'the high-water mark', ...known.mark }]),
    ...(known.applied === undefined ? [] : [{ name: 'the projections', ...known.applied }]),
  ]
}

/** A cold segment is the last one only when the segments after it were removed by hand; then it becomes plain again. */
export function mustBeRewritten({ cut, segment }: JournalTail): boolean {
  return cut !== undefined || segment.isCold
}

const COPY_BYTES = 1 << 20

/**
 * Replaces the last segment by a synced copy of its valid part, an open segment in its full length. After an unclean stop
 * the scan may have read bytes from the page cache that never reached the disk. The next power cut would lose them,
 * although clients may have seen them by now (J8). This also removes a torn tail. A crash in it changes nothing. Where the
 * disk has no space for a copy, the segment is rewritten in place: a full disk must not keep a store from starting.
 * @throws JournalDamagedError when the second read differs from the first: the cache dropped bytes that were not written
 */
export function rewriteSegment(disk: Disk, paths: StorePaths, tail: JournalTail, capacityBytes: number): void {
  const path = join(paths.journal, 'rewrite')
  disk.remove(path)
  try {
    copySegment(disk, path, tail, capacityBytes)
  } catch (error) {
    if (!isDiskFull(error) || tail.sealed || tail.segment.isCold) throw error
    disk.remove(path)
    rewriteInPlace(disk, tail)
    return
  }
  disk.rename(path, tail.segment.path)
  disk.syncDirectory(paths.journal)
}

/** The same without space for a copy: the valid bytes are written in place, and zeros over the cut bytes. */
function rewriteInPlace(disk: Disk, tail: JournalTail): void {
  const file = disk.openToWrite(tail.segment.path)
  try {
    const length = tail.cut === undefined ? tail.offset : file.size()
    copyValid(file, file, length, tail)
    file.sync()
    requireSameTail(file, tail)
  } finally {
    file.close()
  }
}

/** Copies a segment piece by piece as far as its bytes are valid; the rest of `length` becomes zeros. */
function copyValid(
  source: Pick<SegmentFile, 'readAt'>,
  target: Pick<DiskFile, 'writeAt'>,
  length: number,
  tail: JournalTail,
): void {
  const bytes = Buffer.alloc(Math.min(COPY_BYTES, length))
  for (let at = 0; at < length; at += COPY_BYTES) {
    const size = Math.min(COPY_BYTES, length - at)
    readValid(source, bytes, at, size, tail)
    target.writeAt(bytes.subarray(0, size), at)
  }
}

/** Reads up to the end of the valid bytes, and fills the rest of the piece with zeros. */
function readValid(
  file: Pick<SegmentFile, 'readAt'>,
  bytes: Buffer,
  at: number,
  size: number,
  tail: JournalTail,
): void {
  const valid = Math.max(0, Math.min(size, tail.offset - at))
  if (file.readAt(bytes, at, valid) !== valid) throw new JournalDamagedError(`${tail.segment.path} became shorter`)
  bytes.fill(0, valid)
}

function copySegment(disk: Disk, path: string, tail: JournalTail, capacityBytes: number): void {
  const source = openSegment(disk, tail.segment.path)
  const target = disk.create(path)
  try {
    const length = tail.sealed ? tail.offset : Math.max(capacityBytes, tail.offset)
    copyValid(source, target, length, tail)
    target.sync()
    requireSameTail(target, tail)
  } finally {
    source.close()
    target.close()
  }
}

/** Checks the copy against the scan: nothing may be appended after a hole. */
function requireSameTail(copy: DiskFile, tail: JournalTail): void {
  const { path, header } = tail.segment
  const chain = firstOf(header)
  const end = scanSegment(new SegmentWindow(copy), header.segmentNumber, SEGMENT_HEADER.bytes, chain, {
    record: () => undefined,
  })
  if (end.offset === tail.offset && chain.head.equals(tail.chain.head)) return
  throw new JournalDamagedError(`${path}, offset ${end.offset}: a second read differs from the first; start again`)
}

/** SHA-256 of the first bytes of a segment, to continue the hash where an earlier run stopped. */
export function contentHash(disk: Disk, path: string, length: number): ReturnType<typeof createHash> {
  const file = openSegment(disk, path)
  const hash = createHash('sha256')
  const bytes = Buffer.alloc(Math.min(COPY_BYTES, length))
  try {
    for (let at = 0; at < length; at += COPY_BYTES) {
      hash.update(bytes.subarray(0, file.readAt(bytes, at, Math.min(COPY_BYTES, length - at))))
    }
    return hash
  } finally {
    file.close()
  }
}

/** A sealed segment that was cut to its length may be read-only: nothing will be written to it. */
export function openTail(disk: Disk, tail: JournalTail): DiskFile {
  const { path } = tail.segment
  return tail.sealed && disk.sizeOf(path) === tail.offset ? disk.openToRead(path) : disk.openToWrite(path)
}
