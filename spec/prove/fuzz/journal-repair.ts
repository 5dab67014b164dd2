/** Makes the checksums and the chain of a mutated segment right again, as far as its lengths can be followed. */
import type { Random } from '../../support/random.ts'
import { repairBatch, repairRecord, repairSegmentHeader } from '../../support/journals/journal-bytes.ts'

const SEGMENT_HEADER_BYTES = 256
const BATCH_HEADER_BYTES = 64
const TRAILER_BYTES = 8
const RECORD_BYTES = 88
const AT = { recordBytes: 28, bodyLength: 32, previousHash: 56, chainHead: 64 } as const

/** How much is made right; the checksums alone leave the chain broken where it was. */
type Depth = 'checksums' | 'hashes' | 'links'

export function repairedSegment(input: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(input)
  if (bytes.length < SEGMENT_HEADER_BYTES) return bytes
  repairSegmentHeader(bytes)
  const depth = random.of<Depth>(['checksums', 'hashes', 'links', 'links', 'links'])
  let head: Buffer = Buffer.from(bytes.subarray(AT.chainHead, AT.chainHead + 32))
  let at = SEGMENT_HEADER_BYTES
  while (at + BATCH_HEADER_BYTES + TRAILER_BYTES <= bytes.length) {
    const records = bytes.readUInt32BE(at + AT.recordBytes)
    const end = at + BATCH_HEADER_BYTES + records
    if (records === 0 || end + TRAILER_BYTES > bytes.length) break
    if (depth !== 'checksums') head = repairRecords(bytes, at + BATCH_HEADER_BYTES, end, head, depth)
    repairBatch(bytes, at)
    at = end + TRAILER_BYTES
  }
  return bytes
}

/** Hashes the records between two offsets anew; gives the hash of the last. */
function repairRecords(bytes: Buffer, start: number, end: number, before: Buffer, depth: Depth): Buffer {
  let head = before
  for (let at = start; at + RECORD_BYTES <= end; ) {
    const length = bytes.readUInt32BE(at + AT.bodyLength)
    const next = at + Math.ceil((RECORD_BYTES + length) / 8) * 8
    if (next > end) return head
    if (depth === 'links') head.copy(bytes, at + AT.previousHash)
    repairRecord(bytes, at)
    head = Buffer.from(bytes.subarray(at, at + 32))
    at = next
  }
  return head
}
