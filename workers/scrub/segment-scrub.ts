import { createHash, type Hash } from 'node:crypto'
import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { segmentFirsts, type SegmentFile } from '../../engine/journal/segment.ts'
import { readSegmentFacts } from '../../engine/journal/segment-chain.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import { damageOf } from './payload-scrub.ts'

/** Bytes of one step. */
const STEP_BYTES = 1 << 20

/** Result of a step. `segment`: set at the end of a segment. `reason`: why it is damaged, if it is. */
interface ReadSegment {
  readonly bytes: number
  readonly segment: Sequence | undefined
  readonly reason: string | undefined
}

interface OpenSegment {
  readonly first: Sequence
  readonly file: SegmentFile
  readonly hash: Hash
  readonly digest: Uint8Array
  readonly length: number
  position: number
}

/** Holds sealed segments against the content digest of their seal. `journal verify` does much more, and takes longer. */
export class SegmentScrub {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #piece = Buffer.allocUnsafeSlow(STEP_BYTES)
  #open: OpenSegment | undefined

  constructor(disk: Disk, paths: StorePaths) {
    this.#disk = disk
    this.#paths = paths
  }

  /** Reads on in the first sealed segment from a sequence on; nothing and no segment at the end. */
  async read(from: Sequence): Promise<ReadSegment> {
    const firsts = segmentFirsts(this.#disk, this.#paths)
    // The last one is still written.
    const first = firsts.slice(0, -1).find((each) => each >= from)
    if (first === undefined) return { bytes: 0, segment: undefined, reason: undefined }
    try {
      return await this.#readOn(first)
    } catch (error) {
      this.close()
      const reason = damageOf(error)
      if (reason === undefined) throw error
      return { bytes: 0, segment: first, reason }
    }
  }

  close(): void {
    this.#open?.file.close()
    this.#open = undefined
  }

  async #readOn(first: Sequence): Promise<ReadSegment> {
    const open = this.#open?.first === first ? this.#open : this.#begin(first)
    if (open === undefined) return { bytes: 0, segment: first, reason: 'its header or its seal is damaged' }
    const wanted = Math.min(STEP_BYTES, open.length - open.position)
    const bytes = await open.file.readAtAsync(this.#piece, open.position, wanted)
    open.hash.update(this.#piece.subarray(0, bytes))
    open.position += bytes
    if (bytes === wanted && open.position < open.length) return { bytes, segment: undefined, reason: undefined }
    const isWhole = bytes === wanted && open.hash.digest().equals(open.digest)
    this.close()
    return { bytes, segment: first, reason: isWhole ? undefined : 'its bytes do not hash to the digest of its seal' }
  }

  /** @returns undefined when its header or its seal cannot be read */
  #begin(first: Sequence): OpenSegment | undefined {
    this.close()
    const facts = readSegmentFacts(this.#disk, this.#paths.segment(first))
    if (facts?.sealed === undefined) return undefined
    const { contentDigest: digest, lengthBytes: length } = facts.sealed.seal
    const file = openSegment(this.#disk, facts.path)
    this.#open = { first, file, hash: createHash('sha256'), digest, length, position: 0 }
    return this.#open
  }
}
