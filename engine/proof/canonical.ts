/**
 * The bytes under a bundle's signature: specification, "Canonical signed encoding (version 1)". Version 2 has the
 * records themselves as well (spec/formats/proof-bundle.md).
 */
import { hexToBytes } from '@noble/hashes/utils.js'
import {
  HISTORY_REASONS,
  type ProofAnchor,
  type ProofHistory,
  type ProofRecord,
  type UnsignedBundle,
} from './bundle-types.ts'
import { ByteWriter } from './byte-writer.ts'
import { proofMicroseconds } from './proof-time.ts'

const DOMAIN = 'object-store/proof-bundle/v1'
const UNAVAILABLE = 0
const PRESENT = 1
const ABSENT = 0
const SIDES = { left: 0, right: 1 } as const

/** Everything but the signature, in the fixed order of the specification. */
export function canonicalBytes(bundle: UnsignedBundle): Uint8Array {
  const { object, payload, history, deployment } = bundle
  const writer = new ByteWriter()
    .raw(new TextEncoder().encode(DOMAIN))
    .u16(bundle.format_version)
    .text(bundle.format)
    .u16(bundle.format_version)
    .text(object.bucket)
    .text(object.key)
    .text(object.version_id)
    .u64(object.size)
  if (object.content_type === undefined) writer.u8(ABSENT)
  else writer.u8(PRESENT).text(object.content_type)
  writeTime(writer, object.created_at)
  writer.text(payload.sha256)
  writeHistory(writer, history)
  return writer.text(deployment.algorithm).text(deployment.public_key).text(deployment.key_id).finish()
}

function writeHistory(writer: ByteWriter, history: ProofHistory): void {
  if (history.status === 'unavailable') {
    writer.u8(UNAVAILABLE).text(HISTORY_REASONS[history.reason]).text(history.detail)
    return
  }
  const { records, checkpoint, anchor } = history
  writer.u8(PRESENT).u32(records.length)
  for (const record of records) writeRecord(writer, record)
  writer
    .u64(checkpoint.sequence)
    .u64(checkpoint.from_sequence)
    .u64(checkpoint.to_sequence)
    .u64(checkpoint.leaf_count)
    .text(checkpoint.root)
    .text(checkpoint.previous_checkpoint_hash)
  writeAnchor(writer, anchor)
}

function writeRecord(writer: ByteWriter, record: ProofRecord): void {
  writer.u64(record.sequence)
  writeTime(writer, record.timestamp)
  writer
    .text(record.operation)
    .text(record.principal)
    .text(record.result)
    .text(record.previous_hash)
    .text(record.record_hash)
  if (record.record !== undefined) writer.text(record.record)
  writer.u64(record.inclusion_path.index).u32(record.inclusion_path.steps.length)
  for (const { side, hash } of record.inclusion_path.steps) writer.u8(SIDES[side]).bytes(hexToBytes(hash))
}

function writeAnchor(writer: ByteWriter, anchor: ProofAnchor | undefined): void {
  if (anchor === undefined) {
    writer.u8(ABSENT)
    return
  }
  writer.u8(PRESENT).text(anchor.kind).text(anchor.receipt)
  if (anchor.asserted_at === undefined) {
    writer.u8(ABSENT)
    return
  }
  writeTime(writer.u8(PRESENT), anchor.asserted_at)
}

function writeTime(writer: ByteWriter, text: string): void {
  const microseconds = proofMicroseconds(text)
  if (microseconds === undefined) throw new RangeError(`${text} is not a valid time of a proof bundle`)
  writer.i64(microseconds)
}
