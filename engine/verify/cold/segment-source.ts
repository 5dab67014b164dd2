import { type JournalFile, type JournalFiles, readFully, REAL_FILES } from '../journal-files.ts'
import { type ColdBlock, type ColdIndex, readColdIndex } from './cold-index.ts'
import { inflateMember } from './member-inflater.ts'

/** Damage of a file itself. `offset`: of the block, or of what the disk cannot read, in the plain segment. */
export interface ColdFault {
  readonly offset: number
  readonly detail: string
}

/** The bytes of a segment, whatever the form of its file. Offsets and lengths are those in the plain segment. */
export interface SegmentSource {
  readonly isCold: boolean
  /** Length now; an open segment grows. */
  size(): number
  /** Fills `target` from its beginning with up to `wanted` bytes; returns their number, less only where the file ends. */
  read(target: Buffer, wanted: number, offset: number): number
  /** Faults that reading has met, each block once, in the order in which they were met. */
  readonly faults: readonly ColdFault[]
  close(): void
}

/** Distinguishes a cold segment from a plain one. */
const COLD_MAGIC = Buffer.from('1f8b0800', 'hex')

/**
 * Opens a segment. A plain file may be replaced by its cold form at any time: an open file stays plain.
 * @throws the system's error when the file cannot be opened
 */
export function openSegmentSource(path: string, files: JournalFiles = REAL_FILES): SegmentSource {
  const file = files.openToRead(path)
  const magic = Buffer.alloc(COLD_MAGIC.length)
  // It is read again, and then a fault.
  readFully(file, magic, magic.length, 0, () => undefined)
  return magic.equals(COLD_MAGIC) ? new ColdSource(file) : new PlainSource(file)
}

/**
 * Length of a plain segment, of which a cold file tells by its index; 0 when that cannot be read.
 * @throws the system's error when the file cannot be opened
 */
export function plainSegmentBytes(path: string, files: JournalFiles = REAL_FILES): number {
  const source = openSegmentSource(path, files)
  const size = source.size()
  source.close()
  return size
}

class PlainSource implements SegmentSource {
  readonly isCold = false
  readonly faults: ColdFault[] = []
  readonly #lost = new Set<number>()
  readonly #file: JournalFile

  constructor(file: JournalFile) {
    this.#file = file
  }

  size(): number {
    return this.#file.size()
  }

  read(target: Buffer, wanted: number, offset: number): number {
    return readFully(this.#file, target, wanted, offset, (at) => {
      if (!this.#lost.has(at)) this.faults.push({ offset: at, detail: 'the disk cannot read these bytes' })
      this.#lost.add(at)
    })
  }

  close(): void {
    this.#file.close()
  }
}

/**
 * A cold segment, inflated block by block. A block that is damaged counts as zeros; without a valid index there are no
 * bytes at all. Memory: one block and its member, at most 2 MiB.
 */
class ColdSource implements SegmentSource {
  readonly isCold = true
  readonly faults: ColdFault[] = []
  readonly #file: JournalFile
  readonly #index: ColdIndex
  readonly #damaged = new Set<ColdBlock>()
  #member = Buffer.alloc(0)
  /** The block that was inflated last: pieces of the segment that follow each other meet in it. */
  #held: { readonly block: ColdBlock; readonly bytes: Buffer } | undefined

  constructor(file: JournalFile) {
    this.#file = file
    const read = (offset: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(
        0,
        readFully(file, bytes, length, offset, () => undefined),
      )
    }
    const index = readColdIndex(read, file.size())
    if ('fault' in index) this.faults.push({ offset: 0, detail: index.fault })
    this.#index = 'fault' in index ? { plainBytes: 0, blocks: [] } : index
  }

  size(): number {
    return this.#index.plainBytes
  }

  read(target: Buffer, wanted: number, offset: number): number {
    const { blocks, plainBytes } = this.#index
    const end = Math.min(offset + wanted, plainBytes)
    for (let index = blockIndexAt(blocks, offset); index < blocks.length; index += 1) {
      const block = blocks[index] as ColdBlock
      if (block.plainOffset >= end) break
      const from = Math.max(offset, block.plainOffset)
      const to = Math.min(end, block.plainOffset + block.plainBytes)
      this.#bytesOf(block).copy(target, from - offset, from - block.plainOffset, to - block.plainOffset)
    }
    return Math.max(0, end - offset)
  }

  close(): void {
    this.#file.close()
  }

  #bytesOf(block: ColdBlock): Buffer {
    if (this.#held?.block !== block) this.#held = { block, bytes: this.#inflate(block) }
    return this.#held.bytes
  }

  #inflate(block: ColdBlock): Buffer {
    const { memberBytes, memberOffset, plainBytes, plainOffset } = block
    if (this.#member.length < memberBytes) this.#member = Buffer.allocUnsafeSlow(memberBytes)
    const read = readFully(this.#file, this.#member, memberBytes, memberOffset, () => undefined)
    const inflated = inflateMember(this.#member.subarray(0, read), block)
    if (!('fault' in inflated)) return inflated
    if (!this.#damaged.has(block)) this.faults.push({ offset: plainOffset, detail: inflated.fault })
    this.#damaged.add(block)
    return Buffer.alloc(plainBytes)
  }
}

/** Index of the last block that starts at or before `offset`. */
function blockIndexAt(blocks: readonly ColdBlock[], offset: number): number {
  let low = 0
  let high = blocks.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((blocks[middle] as ColdBlock).plainOffset <= offset) low = middle
    else high = middle - 1
  }
  return low
}
