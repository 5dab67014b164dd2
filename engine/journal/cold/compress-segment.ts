import { createHash } from 'node:crypto'
import { crc32 } from '../../hashing/crc32.ts'
import type { Sequence } from '../../brands.ts'
import type { Disk, DiskFile } from '../../disk/disk.ts'
import { COMPRESSING, type StorePaths } from '../../disk/store-paths.ts'
import { join } from 'node:path'
import { SEGMENT_HEADER } from '../format.ts'
import { JournalDamagedError } from '../journal-errors.ts'
import { linkFault, readSegmentFacts, type SegmentFacts } from '../segment-chain.ts'
import { openSegmentAsync } from '../segment-file.ts'
import type { SegmentFile } from '../segment.ts'
import { encodeBlock } from './block-codec.ts'
import { BLOCK_BYTES } from './cold-format.ts'
import { encodeIndex, type MemberFacts } from './cold-index.ts'

/** A plain segment that could be compressed, and the one after it. */
interface CompressionJob {
  readonly first: Sequence
  readonly following: Sequence
  /** A name for the file that is being made; every process has its own. */
  readonly making: string
  /** Of deflate, 1 to 9. */
  readonly level: number
}

interface Compressed {
  readonly plainBytes: number
  readonly storedBytes: number
}

/** Bytes written between two syncs: one sync of the whole file would delay syncs of the journal. */
const SYNC_BYTES = 1 << 20

/**
 * Replaces a sealed plain segment by its cold form, in pieces of `BLOCK_BYTES`; yields the bytes that each took. The
 * new file is made under another name, synced, read again and checked against the seal; then one rename replaces the
 * plain one. So a crash or an error at any moment leaves one of the two, whole, and at most a file without meaning.
 * @throws JournalDamagedError when the plain segment is not what its seal states: it is left as it is
 */
export async function* compressSegment(
  disk: Disk,
  paths: StorePaths,
  job: CompressionJob,
): AsyncGenerator<number, Compressed> {
  const path = paths.segment(job.first)
  const making = paths.compressing(job.making)
  const segment = sealedSegment(disk, paths, job)
  await disk.removeAsync(making)
  let isInPlace = false
  try {
    const seal = yield* write(disk, segment, making, job.level)
    const storedBytes = yield* readAgain(disk, segment, making, seal)
    await disk.renameAsync(making, path)
    isInPlace = true
    await disk.syncDirectoryAsync(paths.journal)
    return { plainBytes: segment.size, storedBytes }
  } finally {
    // The next start removes what cannot be removed now.
    if (!isInPlace) await disk.removeAsync(making).catch(() => undefined)
  }
}

/** Removes the remains of a compression that crashed. */
export function sweepCompressing(disk: Disk, paths: StorePaths): void {
  for (const name of disk.list(paths.journal)) {
    if (name.startsWith(COMPRESSING)) disk.remove(join(paths.journal, name))
  }
}

type Sealed = SegmentFacts & { readonly sealed: NonNullable<SegmentFacts['sealed']> }

/** The segment after it states the hash that the seal must have. */
function sealedSegment(disk: Disk, paths: StorePaths, { first, following }: CompressionJob): Sealed {
  const path = paths.segment(first)
  const facts = readSegmentFacts(disk, path)
  if (facts === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
  const { sealed } = facts
  const next = readSegmentFacts(disk, paths.segment(following))
  if (next === undefined) throw new JournalDamagedError(`${paths.segment(following)}: header is damaged`)
  const fault = linkFault(facts, next, following)
  if (fault !== undefined || sealed === undefined) throw new JournalDamagedError(`${next.path}: ${fault}`)
  return { ...facts, sealed }
}

/** Ends of the blocks: the header and the seal, which every start reads, are blocks of their own. */
function* blockEnds({ size, sealed }: Sealed): Generator<number> {
  for (let end: number = SEGMENT_HEADER.bytes; end < sealed.offset; end += BLOCK_BYTES) yield end
  yield sealed.offset
  yield size
}

/** @returns the sealing batch */
async function* write(disk: Disk, segment: Sealed, making: string, level: number): AsyncGenerator<number, Buffer> {
  const source = await openSegmentAsync(disk, segment.path)
  let target: DiskFile | undefined
  try {
    target = await disk.createAsync(making)
    const blocks: MemberFacts[] = []
    const content = new Content(segment)
    let written = 0
    let synced = 0
    for await (const plain of content.pieces(source)) {
      const member = await encodeBlock(plain, level)
      await target.writeAtAsync(member, written)
      blocks.push({ plainBytes: plain.length, memberBytes: member.length, checksum: crc32(member) })
      written += member.length
      if (written - synced >= SYNC_BYTES) {
        await target.syncAsync()
        synced = written
      }
      yield plain.length
    }
    content.requireSealed()
    await target.writeAtAsync(encodeIndex(blocks), written)
    await target.syncAsync()
    target.seal()
    return content.seal
  } finally {
    source.close()
    await target?.closeAsync()
  }
}

/**
 * Reads the whole cold segment through the reader of the whole store.
 * @returns length of the file
 */
async function* readAgain(disk: Disk, segment: Sealed, making: string, seal: Buffer): AsyncGenerator<number, number> {
  const cold = await openSegmentAsync(disk, making)
  try {
    const content = new Content({ ...segment, path: making })
    if (!cold.isCold || cold.size() !== segment.size) throw new Error(`${making}: ${cold.size()} bytes were written`)
    for await (const plain of content.pieces(cold)) yield plain.length
    content.requireSealed()
    if (!content.seal.equals(seal)) throw new Error(`${making}: the seal differs`)
    return cold.storedBytes
  } finally {
    cold.close()
  }
}

/** The bytes of a sealed segment, and whether they match its seal. */
class Content {
  /** The sealing batch, at the end. */
  seal: Buffer = Buffer.alloc(0)
  readonly #segment: Sealed
  readonly #digest = createHash('sha256')

  constructor(segment: Sealed) {
    this.#segment = segment
  }

  async *pieces(file: SegmentFile): AsyncGenerator<Buffer> {
    const { path, sealed } = this.#segment
    const bytes = Buffer.allocUnsafe(BLOCK_BYTES)
    let at = 0
    for (const end of blockEnds(this.#segment)) {
      const length = await file.readAtAsync(bytes, at, end - at)
      if (length !== end - at) throw new JournalDamagedError(`${path}, offset ${at}: the segment became shorter`)
      const piece = bytes.subarray(0, length)
      if (at < sealed.offset) this.#digest.update(piece)
      else this.seal = Buffer.from(piece)
      yield piece
      at = end
    }
  }

  requireSealed(): void {
    const { path, sealed } = this.#segment
    if (Buffer.compare(this.#digest.digest(), sealed.seal.contentDigest) === 0) return
    throw new JournalDamagedError(`${path}: its bytes do not hash to the content digest of its seal`)
  }
}
