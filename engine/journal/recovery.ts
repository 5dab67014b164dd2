import { createHash, hash as digestOf } from 'node:crypto'
import { join } from 'node:path'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { type CutTail, keepAside } from './evidence.ts'
import { HASH_BYTES, SEGMENT_HEADER } from './format.ts'
import type { HeadMark } from './head-mark.ts'
import { AcknowledgedDataLostError, JournalDamagedError } from './journal-errors.ts'
import { type RecoveryFacts, recoveryCase } from './recovery-cases.ts'
import { readSegmentChain, type SegmentFacts } from './segment-chain.ts'
import { laterBatchFollows, type ScanEnd, type ScanPosition, SegmentWindow, scanSegment } from './segment-scan.ts'

/** What is known of the journal apart from the journal: the mark and the projections. */
export interface KnownBefore {
  readonly mark: HeadMark | undefined
  /** Last sequence that the projections have applied, with its batch and hash. */
  readonly applied: { readonly sequence: number; readonly batch: number; readonly head: Uint8Array } | undefined
  /** Payloads or projections are there. */
  readonly wasInUse: boolean
}

/** The end of a journal that can be continued. */
export interface JournalTail {
  readonly segment: SegmentFacts
  /** Offset where the next batch goes. */
  readonly offset: number
  readonly position: ScanPosition
  readonly sealed: boolean
  /** Content digest that the seal states, when the segment is sealed. */
  readonly sealDigest: Uint8Array | undefined
  readonly cut: CutTail | undefined
}

/**
 * Finds the end of the journal and decides by the table of recovery cases.
 * @returns undefined for a new store
 * @throws JournalDamagedError, AcknowledgedDataLostError
 */
export function recoverJournal(disk: Disk, paths: StorePaths, known: KnownBefore): JournalTail | undefined {
  const chain = readSegmentChain(disk, paths)
  const last = chain.segments.at(-1)
  const scan = last === undefined || chain.broken !== undefined ? undefined : scanTail(disk, last, known)
  const facts: RecoveryFacts = {
    hasSegments: last !== undefined || chain.broken !== undefined,
    wasInUse: known.wasInUse || known.mark !== undefined || known.applied !== undefined,
    segmentsLink: chain.broken === undefined,
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
      throw new JournalDamagedError(`${found.name}: ${chain.broken ?? `${where}: ${scan?.end.reason}`}`)
    case 'refuse-lost':
      throw new AcknowledgedDataLostError(`${found.name}: ${scan?.beyond ?? found.cause} (${where})`)
    default: {
      const { end, position } = scan as TailScan
      const segment = last as SegmentFacts
      const cut = found.action === 'cut-tail' ? keepAside(disk, paths, segment, end.offset) : undefined
      const sealed = found.action === 'open-next'
      return { segment, offset: end.offset, position, sealed, sealDigest: end.seal?.contentDigest, cut }
    }
  }
}

function describe(last: SegmentFacts | undefined, scan: TailScan | undefined): string {
  if (last === undefined) return 'no segment'
  return `${last.path}, offset ${scan?.end.offset ?? 0}, sequence ${scan?.position.sequence ?? last.header.firstSequence}`
}

interface TailScan {
  readonly end: ScanEnd
  readonly position: ScanPosition
  readonly laterBatch: boolean
  /** Why something acknowledged is missing, if it is. */
  readonly beyond: string | undefined
}

/** The position before the first record of a segment, as its header states it. */
export function startOf(segment: SegmentFacts): ScanPosition {
  return {
    sequence: segment.header.firstSequence,
    head: Buffer.from(segment.header.chainHead),
    timeMicroseconds: 0,
    batch: segment.header.firstBatch,
  }
}

function scanTail(disk: Disk, last: SegmentFacts, known: KnownBefore): TailScan {
  const file = disk.openToRead(last.path)
  try {
    const window = new SegmentWindow(file)
    const position = startOf(last)
    const proofs = knownPoints(known)
    let beyond: string | undefined
    const end = scanSegment(window, last.header.segmentNumber, SEGMENT_HEADER.bytes, position, {
      record: (record) => {
        for (const proof of proofs) {
          if (proof.sequence !== record.sequence) continue
          if (!record.hash.equals(proof.head)) beyond = `${proof.name} has another hash for sequence ${proof.sequence}`
          else if (proof.batch !== position.batch)
            beyond = `${proof.name} has sequence ${proof.sequence} in another batch`
        }
      },
    })
    for (const proof of proofs) {
      if (proof.sequence < position.sequence) continue
      beyond = `${proof.name} holds sequence ${proof.sequence}, the journal ends at ${position.sequence - 1}`
    }
    const laterBatch =
      (end.end === 'torn' || end.end === 'foreign') &&
      laterBatchFollows(window, end.offset, last.header.segmentNumber, position.batch)
    return { end, position, laterBatch, beyond }
  } finally {
    file.close()
  }
}

function knownPoints(known: KnownBefore): { name: string; sequence: number; batch: number; head: Uint8Array }[] {
  const points = []
  if (known.mark !== undefined) points.push({ name: 'the high-water mark', ...known.mark })
  if (known.applied !== undefined) points.push({ name: 'the projections', ...known.applied })
  return points
}

const COPY_BYTES = 1 << 20

/**
 * Writes the valid part of the last segment to a new file and puts it in the place of the old one, an open segment in
 * its full length. After an unclean stop what was read may have come from the page cache only, and would be lost by the
 * next power cut although it was acknowledged again by being read (J8); this also removes a torn tail. Crashing in it
 * changes nothing.
 * @throws JournalDamagedError when the second reading is not the first: the cache has let go of what was not written
 */
export function rewriteSegment(disk: Disk, paths: StorePaths, tail: JournalTail, capacityBytes: number): void {
  const path = join(paths.journal, 'rewrite')
  disk.remove(path)
  const source = disk.openToRead(tail.segment.path)
  const target = disk.create(path)
  try {
    const length = tail.sealed ? tail.offset : Math.max(capacityBytes, tail.offset)
    const bytes = Buffer.alloc(Math.min(COPY_BYTES, length))
    for (let at = 0; at < length; at += COPY_BYTES) {
      const size = Math.min(COPY_BYTES, length - at)
      const valid = Math.max(0, Math.min(size, tail.offset - at))
      if (source.readAt(bytes, at, valid) !== valid)
        throw new JournalDamagedError(`${tail.segment.path} became shorter`)
      bytes.fill(0, valid)
      target.writeAt(bytes.subarray(0, size), at)
    }
    target.sync()
    requireSameTail(target, tail)
  } finally {
    source.close()
    target.close()
  }
  disk.rename(path, tail.segment.path)
  disk.syncDirectory(paths.journal)
}

/** What was copied must be what the scan has seen: nothing may be appended behind a hole. */
function requireSameTail(copy: DiskFile, tail: JournalTail): void {
  const { path, header } = tail.segment
  const position = startOf(tail.segment)
  const end = scanSegment(new SegmentWindow(copy), header.segmentNumber, SEGMENT_HEADER.bytes, position, {
    record: () => undefined,
  })
  if (end.offset === tail.offset && position.head.equals(tail.position.head)) return
  throw new JournalDamagedError(`${path}, offset ${end.offset}: reads differently than a moment ago; start again`)
}

/** SHA-256 of nothing but the first bytes of a file, to go on hashing where an earlier run stopped. */
export function contentHash(disk: Disk, path: string, length: number): ReturnType<typeof createHash> {
  const file = disk.openToRead(path)
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

if (digestOf('sha256', '', 'buffer').length !== HASH_BYTES) throw new Error('SHA-256 must give 32 bytes')
