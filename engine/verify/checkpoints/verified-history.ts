/**
 * Where a verification came to that ended at a checkpoint which a reader keeps (`spec/formats/checkpoints.md`, "From a checkpoint
 * on"): its last record, and what both trees are made of before that record. It hashes to the root of the checkpoint.
 */
import { CompactRange } from './compact-range.ts'
import { HASH_BYTES, TreeHasher } from './tree-hasher.ts'

/** All hashes in hexadecimal. */
export interface VerifiedHistory {
  readonly origin: string
  readonly size: number
  /** First sequence of the segment that holds the last record that the checkpoint covers. */
  readonly segment: number
  /** Hash of that record. */
  readonly lastRecord: string
  /** Of the records before it: the tops of the complete subtrees, the greatest first. */
  readonly tops: readonly string[]
  readonly bundleTops: readonly string[]
}

/** Both trees of the first records. */
export interface TwoTrees {
  readonly log: CompactRange
  readonly bundle: CompactRange
}

const FORMAT = 'object-store.verified-history'
const HASH = /^[0-9a-f]{64}$/

/** Both trees without a record. */
export function emptyTrees(): TwoTrees {
  return { log: new CompactRange(TreeHasher.log(), 0), bundle: new CompactRange(TreeHasher.bundle(), 0) }
}

/** Both trees over the records that the checkpoint covers. */
export function treesOfHistory({ size, lastRecord, tops, bundleTops }: VerifiedHistory): TwoTrees {
  const { log, bundle } = emptyTrees()
  const heights = heightsOf(size - 1)
  for (const [range, hashes] of [[log, tops] as const, [bundle, bundleTops] as const]) {
    range.extend({ begin: 0, end: size - 1, heights, hashes: Buffer.from(hashes.join(''), 'hex') })
    range.append(Buffer.from(lastRecord, 'hex'))
  }
  return { log, bundle }
}

/** The tops of a tree that starts with the first record. */
export function topsOf(range: CompactRange): string[] {
  const { hashes } = range.nodes()
  return Array.from({ length: hashes.length / HASH_BYTES }, (_, at) =>
    Buffer.from(hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)).toString('hex'),
  )
}

export function historyText({ origin, size, segment, lastRecord, tops, bundleTops }: VerifiedHistory): string {
  const values = { format: FORMAT, format_version: 1, origin, size, segment }
  return `${JSON.stringify({ ...values, last_record: lastRecord, tops, bundle_tops: bundleTops })}\n`
}

/** A state as it is written; undefined for a text of another form. */
export function readHistory(text: string): VerifiedHistory | undefined {
  const values = parsed(text)
  if (values?.['format'] !== FORMAT || values['format_version'] !== 1) return undefined
  const { origin, size, segment, last_record: lastRecord, tops, bundle_tops: bundleTops } = values
  if (typeof origin !== 'string' || !isCount(size) || !isCount(segment) || segment >= size) return undefined
  if (!isHash(lastRecord) || !areHashes(tops) || !areHashes(bundleTops)) return undefined
  const count = heightsOf(size - 1).length
  if (tops.length !== count || bundleTops.length !== count) return undefined
  return { origin, size, segment, lastRecord, tops, bundleTops }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value)
}

function areHashes(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isHash)
}

/** Heights of the complete subtrees over a number of first leaves: the places of the ones in the number. */
function heightsOf(leaves: number): number[] {
  const heights: number[] = []
  for (let left = leaves, height = 0; left > 0; left = Math.floor(left / 2), height += 1) {
    if (left % 2 === 1) heights.unshift(height)
  }
  return heights
}
