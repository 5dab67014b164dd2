import { createHash, randomBytes } from 'node:crypto'
import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { segmentName, type StorePaths } from '../../engine/disk/store-paths.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { linkFault, readSegmentFacts, type SegmentFacts } from '../../engine/journal/segment-chain.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import type { ExistingBackup } from './checked-backup.ts'
import { writeNewFile } from './new-file.ts'

const PIECE_BYTES = 1 << 20

/** What was done about damage. */
export interface Healing {
  readonly healed: string[]
  /** What stays damaged, each with the reason. */
  readonly left: string[]
}

/**
 * Replaces sealed segments whose bytes do not have the digest that the header of the next segment states, by the segment of the
 * backup that has it. The open segment is left alone.
 * @throws the errors of the disk
 */
export async function healSegments(
  disk: Disk,
  store: StorePaths,
  { disk: source, backup }: ExistingBackup,
  progress: (text: string) => void,
): Promise<Healing> {
  const healing: Healing = { healed: [], left: [] }
  const firsts = segmentFirsts(disk, store)
  for (const [index, first] of firsts.slice(0, -1).entries()) {
    const name = segmentName(first)
    progress(`${name} is read`)
    const next = factsOf(disk, store.segment(firsts[index + 1] as Sequence))
    const fault = segmentFault(disk, store.segment(first), next)
    if (fault === undefined) continue
    const backedUp = backup.segment(first)
    const why = source.exists(backedUp) ? segmentFault(source, backedUp, next) : 'the backup does not have it'
    if (why === undefined) {
      await replace(disk, store, first, source, backedUp)
      healing.healed.push(`segment ${name}: ${fault}`)
    } else healing.left.push(`segment ${name}: ${fault}; in the backup: ${why}`)
  }
  return healing
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
