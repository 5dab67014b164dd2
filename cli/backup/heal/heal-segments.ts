import { createHash, randomBytes } from 'node:crypto'
import type { Sequence } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import { segmentName, type StorePaths } from '../../../engine/disk/store-paths.ts'
import { JournalDamagedError } from '../../../engine/journal/journal-errors.ts'
import { type SegmentHeader, segmentFirsts } from '../../../engine/journal/segment.ts'
import { SEGMENT_HEADER } from '../../../engine/journal/format.ts'
import { firstOf } from '../../../engine/journal/positions.ts'
import { laterBatchFollows, scanSegment, SegmentWindow } from '../../../engine/journal/segment-scan.ts'
import { linkFault, readSegmentFacts, type SegmentFacts } from '../../../engine/journal/segment-chain.ts'
import { openSegment } from '../../../engine/journal/segment-file.ts'
import { type HeadMark, readHeadMark } from '../../../engine/verify/head-mark.ts'
import { ExitError } from '../../exit-codes.ts'
import type { ExistingBackup } from '../checked-backup.ts'
import type { RepairRecords } from './heal-records.ts'
import { writeNewFile } from '../new-file.ts'

const PIECE_BYTES = 1 << 20

/** What was done about damage. */
export interface Healing {
  readonly healed: string[]
  /** What stays damaged, each with the reason. */
  readonly left: string[]
}

/** The journal of a store that no server has open, and the backup to heal it from. */
interface HealedJournal {
  readonly disk: Disk
  readonly paths: StorePaths
  readonly existing: ExistingBackup
  readonly records: Pick<RepairRecords, 'begin'>
  readonly progress: (text: string) => void
}

/**
 * Replaces sealed segments whose bytes do not have the digest that the header of the next segment states, by the segment of the
 * backup that has it, and then heals the open segment.
 * @throws ExitError `storeDamaged` when the disk did not keep what was written; the errors of the disk
 */
export async function healSegments(journal: HealedJournal): Promise<Healing> {
  const { disk, paths, existing, records, progress } = journal
  const { disk: source, backup } = existing
  const healing: Healing = { healed: [], left: [] }
  const firsts = segmentFirsts(disk, paths)
  // From the end: a segment that was healed says what the one before it must be.
  for (let index = firsts.length - 2; index >= 0; index -= 1) {
    const [first, following] = firsts.slice(index, index + 2) as [Sequence, Sequence]
    const name = segmentName(first)
    progress(`${name} is read`)
    const next = factsOf(disk, paths.segment(following))
    const fault = segmentFault(disk, paths.segment(first), next)
    if (fault === undefined) continue
    const backedUp = backup.segment(first)
    const why = source.exists(backedUp) ? segmentFault(source, backedUp, next) : 'the backup does not have it'
    if (why === undefined) {
      records.begin([{ resource: `segment:${name}`, fault }])
      await replace(disk, paths, first, source, backedUp)
      requireWritten(name, segmentFault(disk, paths.segment(first), next))
      healing.healed.push(`segment ${name}: ${fault}`)
    } else healing.left.push(`segment ${name}: ${fault}; in the backup: ${why}`)
  }
  if (healing.left.length === 0) await healOpenSegment(journal, firsts, healing)
  return healing
}

/** @throws ExitError `storeDamaged` */
function requireWritten(name: string, fault: string | undefined): void {
  if (fault !== undefined)
    throw new ExitError('storeDamaged', `segment ${name} was written and is still damaged: ${fault}`)
}

/**
 * Heals the open segment, when the chain proves the bytes: the segment of the backup, as far as it goes, and the bytes of the
 * store after it must be one chain, from the segment before to the record that the high-water mark names.
 */
async function healOpenSegment(
  { disk, paths, existing, records, progress }: HealedJournal,
  firsts: readonly Sequence[],
  { healed, left }: Healing,
): Promise<void> {
  const [before, first] = [firsts.at(-2), firsts.at(-1)]
  if (first === undefined) return
  const name = segmentName(first)
  progress(`${name} is read`)
  const { mark } = await readHeadMark(paths.journal)
  const known = { first, mark, before: before === undefined ? undefined : factsOf(disk, paths.segment(before)) }
  const path = paths.segment(first)
  const fault = openFault(disk, path, known)
  if (fault === undefined) return
  const leave = (why: string) => void left.push(`segment ${name}: ${fault}; ${why}`)
  if (mark === undefined) return leave('without a high-water mark nothing proves its end')
  const from = existing.backup.segment(first)
  const length = existing.disk.exists(from) ? chainLength(existing.disk, from) : 0
  if (length === 0) return leave('the backup does not have it')
  const making = paths.compressing(randomBytes(8).toString('hex'))
  const [theirs, own] = [existing.disk.openToRead(from), disk.openToRead(path)]
  try {
    await writeNewFile(disk, path, making, joined(theirs, own, length), () => {
      const why = openFault(disk, making, known)
      if (why !== undefined) throw new NotProvedError(why)
      records.begin([{ resource: `segment:${name}`, fault }])
    })
    requireWritten(name, openFault(disk, path, known))
    healed.push(`segment ${name}: ${fault}`)
  } catch (error) {
    if (!(error instanceof NotProvedError)) throw error
    leave(`with the backup: ${error.message}`)
  } finally {
    theirs.close()
    own.close()
  }
}

/** The bytes of the backup and of the store are not one chain. */
class NotProvedError extends Error {
  override readonly name = 'NotProvedError'
}

interface KnownOfOpen {
  readonly first: Sequence
  readonly before: SegmentFacts | undefined
  readonly mark: HeadMark | undefined
}

/** Why a segment is not the open one of the journal; undefined when it is, also with a batch at its end that a crash tore. */
function openFault(disk: Disk, path: string, { first, before, mark }: KnownOfOpen): string | undefined {
  const facts = factsOf(disk, path)
  if (facts === undefined) return 'its header is damaged'
  const { header } = facts
  const link = linkFault(before, facts, first)
  if (link !== undefined) return link
  const found = readable(() => scanOpen(disk, path, header, mark))
  if (found === undefined) return 'it cannot be read'
  if (found.fault !== undefined) return found.fault
  if (mark === undefined || mark.sequence < first - 1 || mark.hash === found.marked) return undefined
  return found.marked === undefined
    ? `it ends before record ${mark.sequence}, which was acknowledged`
    : `record ${mark.sequence} is not the one that was acknowledged`
}

/** Damage in front of later batches, and the hash of the record that the mark names, in hexadecimal. */
function scanOpen(
  disk: Disk,
  path: string,
  { segmentNumber, ...header }: SegmentHeader,
  mark: HeadMark | undefined,
): { readonly fault: string | undefined; readonly marked: string | undefined } {
  const file = openSegment(disk, path)
  try {
    const window = new SegmentWindow(file)
    const chain = firstOf({ segmentNumber, ...header })
    let marked = mark?.sequence === header.firstSequence - 1 ? chain.head.toString('hex') : undefined
    const { end, offset, reason } = scanSegment(window, segmentNumber, SEGMENT_HEADER.bytes, chain, {
      record: ({ sequence, hash }) => {
        if (sequence === mark?.sequence) marked = Buffer.from(hash).toString('hex')
      },
    })
    const isLater = end === 'torn' && laterBatchFollows(window, offset, segmentNumber, chain.nextBatch)
    return { fault: end === 'foreign' || isLater ? `offset ${offset}: ${reason}` : undefined, marked }
  } finally {
    file.close()
  }
}

/** How many bytes of a segment are whole batches of one chain; 0 when its header is damaged. */
function chainLength(disk: Disk, path: string): number {
  const header = factsOf(disk, path)?.header
  if (header === undefined) return 0
  const file = openSegment(disk, path)
  try {
    const none = { record: () => undefined }
    return scanSegment(new SegmentWindow(file), header.segmentNumber, SEGMENT_HEADER.bytes, firstOf(header), none)
      .offset
  } finally {
    file.close()
  }
}

/** The first bytes of one file, and the rest of the other. */
async function* joined(
  head: ReturnType<Disk['openToRead']>,
  rest: ReturnType<Disk['openToRead']>,
  length: number,
): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (let at = 0; ; ) {
    const isHead = at < length
    const wanted = isHead ? Math.min(PIECE_BYTES, length - at) : PIECE_BYTES
    const read = await (isHead ? head : rest).readAtAsync(piece, at, wanted)
    if (read === 0) return
    yield piece.subarray(0, read)
    at += read
  }
}

/** Why a sealed segment is not the one before `next`; undefined when it is. */
function segmentFault(disk: Disk, path: string, next: SegmentFacts | undefined): string | undefined {
  if (next === undefined) return 'the header of the next segment is damaged, so nothing says what it must be'
  const facts = factsOf(disk, path)
  if (facts === undefined) return 'its header or its index is damaged'
  if (facts.sealed === undefined) return 'its seal is damaged'
  const link = linkFault(facts, next, next.header.firstSequence)
  if (link !== undefined) return `the next segment does not follow it: ${link}`
  const digest = contentDigest(disk, path, facts.sealed.seal.lengthBytes)
  return digest?.equals(next.header.previousDigest) ? undefined : 'its bytes do not have the digest of its seal'
}

function factsOf(disk: Disk, path: string): SegmentFacts | undefined {
  return readable(() => readSegmentFacts(disk, path))
}

/** Of the plain bytes; undefined when they cannot be read. */
function contentDigest(disk: Disk, path: string, length: number): Buffer | undefined {
  return readable(() => {
    const file = openSegment(disk, path)
    try {
      const hash = createHash('sha256')
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      for (let at = 0; at < length; ) {
        const read = file.readAt(piece, at, Math.min(PIECE_BYTES, length - at))
        if (read === 0) return undefined
        hash.update(piece.subarray(0, read))
        at += read
      }
      return hash.digest()
    } finally {
      file.close()
    }
  })
}

function readable<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof JournalDamagedError || (error as NodeJS.ErrnoException).code === 'EIO') return undefined
    throw error
  }
}

async function replace(disk: Disk, store: StorePaths, first: Sequence, source: Disk, from: string): Promise<void> {
  const file = source.openToRead(from)
  try {
    const making = store.compressing(randomBytes(8).toString('hex'))
    await writeNewFile(disk, store.segment(first), making, piecesOfFile(file), () => undefined)
  } finally {
    file.close()
  }
}

/** All bytes of a file, each piece in memory that the next one overwrites. */
export async function* piecesOfFile(file: ReturnType<Disk['openToRead']>): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (let at = 0; ; ) {
    const read = await file.readAtAsync(piece, at, PIECE_BYTES)
    if (read === 0) return
    yield piece.subarray(0, read)
    at += read
  }
}
