import type { Disk } from '../disk/disk.ts'
import { type Milliseconds, millisecondsOf, type Sequence } from '../brands.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { batchTrailerIsRight, decodeBatchHeader, readRecords } from './batch-reader.ts'
import { decodeSeal, type Seal } from './bodies.ts'
import { ColdSegmentDamagedError } from './cold/cold-segment.ts'
import {
  ALIGNMENT_BYTES,
  BATCH_HEADER,
  HASH_BYTES,
  RECORD,
  RECORD_KIND,
  SEAL_BATCH_BYTES_MAXIMUM,
  SEGMENT_HEADER,
} from './format.ts'
import { JournalDamagedError } from './journal-errors.ts'
import { genesisNext } from './positions.ts'
import { openSegment } from './segment-file.ts'
import { decodeSegmentHeader, type SegmentHeader, segmentFirsts } from './segment.ts'

/** A segment as described by its header and, when it is sealed, its seal. */
export interface SegmentFacts {
  readonly path: string
  readonly header: SegmentHeader
  /** Length of the plain segment. */
  readonly size: number
  readonly isCold: boolean
  /** The seal at the very end of the file, with the hash of its record. */
  readonly sealed:
    | { readonly seal: Seal; readonly hash: Uint8Array; readonly batch: number; readonly offset: number }
    | undefined
}

/** When the store was made: the creation time of its first segment; 0 when its header is damaged. */
export function storeCreation(disk: Disk, paths: StorePaths): Milliseconds {
  const [first] = segmentFirsts(disk, paths)
  const facts = first === undefined ? undefined : factsOrFault(disk, paths.segment(first))
  return millisecondsOf(
    Math.floor(((typeof facts === 'object' ? facts.header.createdMicroseconds : undefined) ?? 0) / 1000),
  )
}

/** Header and seal of one segment, or a text that says why they cannot be read. */
export function factsOrFault(disk: Disk, path: string): SegmentFacts | string {
  try {
    return readSegmentFacts(disk, path) ?? 'header is damaged'
  } catch (error) {
    if (error instanceof ColdSegmentDamagedError) return `offset ${error.offset}: ${error.reason}`
    if (error instanceof JournalDamagedError) return error.message
    throw error
  }
}

/**
 * Header and seal of one segment, plain or cold; undefined when the header is damaged.
 * @throws ColdSegmentDamagedError
 */
export function readSegmentFacts(disk: Disk, path: string): SegmentFacts | undefined {
  const file = openSegment(disk, path)
  try {
    const head = Buffer.alloc(SEGMENT_HEADER.bytes)
    file.readAt(head, 0, head.length)
    const header = decodeSegmentHeader(head)
    if (header === undefined) return undefined
    const size = file.size()
    const tail = Buffer.alloc(Math.min(SEAL_BATCH_BYTES_MAXIMUM, size - SEGMENT_HEADER.bytes))
    file.readAt(tail, size - tail.length, tail.length)
    return { path, header, size, isCold: file.isCold, sealed: sealAtEnd(tail, size) }
  } finally {
    file.close()
  }
}

/** A sealing batch that ends exactly where the file ends. */
function sealAtEnd(tail: Buffer, size: number): SegmentFacts['sealed'] {
  for (let at = tail.length % ALIGNMENT_BYTES; at < tail.length; at += ALIGNMENT_BYTES) {
    const batch = tail.subarray(at)
    const header = decodeBatchHeader(batch)
    if (header === undefined || !header.seals || header.bytes !== batch.length) continue
    if (!batchTrailerIsRight(batch)) continue
    let sealed: SegmentFacts['sealed']
    // The records before were not read: the previous hash in the seal is trusted here.
    const stated = batch.subarray(BATCH_HEADER.bytes + RECORD.previousHashAt, BATCH_HEADER.bytes + RECORD.frameBytes)
    const chain = { ...genesisNext(), nextSequence: header.firstSequence, head: Buffer.from(stated) }
    readRecords(batch, header, chain, (record) => {
      const hash = Uint8Array.from(record.hash.subarray(0, HASH_BYTES))
      const seal = record.kind === RECORD_KIND.seal ? decodeSeal(record.body) : undefined
      if (seal !== undefined) sealed = { seal, hash, batch: header.batchNumber, offset: size - batch.length }
    })
    return sealed
  }
  return undefined
}

/** Why a segment does not continue the one before; undefined when it does. */
export function linkFault(
  before: SegmentFacts | undefined,
  facts: SegmentFacts,
  nameStates: Sequence,
): string | undefined {
  const { header } = facts
  if (header.firstSequence !== nameStates) return 'file name and header have different sequences'
  if (before === undefined) {
    return header.segmentNumber === 0 && header.firstSequence === 0 ? undefined : 'the first segment is missing'
  }
  if (header.segmentNumber !== before.header.segmentNumber + 1) return 'a segment is missing before it'
  if (before.sealed === undefined) return 'the segment before it is not sealed'
  const { seal, hash, batch, offset } = before.sealed
  const own =
    seal.segmentNumber === before.header.segmentNumber &&
    seal.firstSequence === before.header.firstSequence &&
    seal.lengthBytes === offset
  if (!own) return 'the seal of the segment before it belongs to another segment'
  const continues =
    header.firstSequence === seal.lastSequence + 2 &&
    header.firstBatch === batch + 1 &&
    Buffer.from(header.chainHead).equals(hash) &&
    Buffer.from(header.previousDigest).equals(seal.contentDigest) &&
    Buffer.from(header.deploymentId).equals(before.header.deploymentId)
  return continues ? undefined : 'it does not continue the segment before it'
}
