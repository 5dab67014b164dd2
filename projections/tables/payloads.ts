import { type PayloadId, payloadIdOf, sequenceOf, volumeNumberOf } from '../../engine/brands.ts'
import type { PartList, PartsLocation, PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import { numberKey, readNumber, readPayload, writeNumber } from '../keys.ts'
import type { TableReader } from '../lmdb-environment.ts'

/**
 * `payloads`: where the bytes of a payload are, and how many objects refer to them. When bytes move only this row
 * changes, whatever the number of copies.
 *
 *   key   = payload id (8)
 *   value = kind (1: 1 volume, 2 file, 3 parts, 4 appended; + 128 sealed, + 64 parts with checksums) | references (4) | length (8)
 *           | volume: volume (4) | offset (8) | CRC-32 (4)
 *           | file: name in ASCII
 *           | parts: sequence of the completion (8) | digest is known (1) | SHA-256 (32)
 *                    | with checksums: length of each (1), the checksums | for each part: payload id (8), size (8)
 *           | appended: as parts, and before the list: id of the base (8) | its parts (8); the list has those after them
 *
 * `payload-files`: name of a payload file -> payload id (8), for every file in use.
 */

const KIND = { volume: 1, file: 2, parts: 3, appended: 4 } as const
const SEALED = 0x80
const SUMMED = 0x40
const NOTHING = Buffer.alloc(0)
const AT = { kind: 0, references: 1, length: 5, volume: 13, offset: 17, checksum: 25, name: 13 } as const
const PARTS_AT = { completion: 13, digested: 21, digest: 22, list: 54 } as const
const APPENDED_AT = { base: 54, count: 62, list: 70 } as const
const PART_BYTES = 16
const VOLUME_ROW_BYTES = 29

export interface PayloadRow {
  readonly references: number
  readonly location: PayloadLocation
}

/** Maximum references in a row. A payload with this many keeps them: it is never removed. */
export const REFERENCES_MAXIMUM = 2 ** 32 - 1

export function referencesOf(row: Buffer): number {
  return row.readUInt32BE(AT.references)
}

/** Changes the number of references in a row as it is stored, which may be long. */
export function setReferences(row: Buffer, references: number): void {
  row.writeUInt32BE(references, AT.references)
}

export function encodePayload({ references, location }: PayloadRow): Buffer {
  switch (location.kind) {
    case 'volume': {
      const value = encodeStart(KIND.volume, location.sealed, references, location.length, VOLUME_ROW_BYTES)
      value.writeUInt32BE(location.volume, AT.volume)
      writeNumber(value, location.offset, AT.offset)
      value.writeUInt32BE(location.checksum, AT.checksum)
      return value
    }
    case 'file': {
      const { name, sealed, length } = location
      const value = encodeStart(KIND.file, sealed, references, length, AT.name + name.length)
      value.write(name, AT.name, 'ascii')
      return value
    }
    case 'parts':
      return encodeParts(references, location)
  }
}

function encodeStart(kind: number, sealed: boolean, references: number, length: number, bytes: number): Buffer {
  const value = Buffer.allocUnsafe(bytes)
  value[AT.kind] = sealed ? kind | SEALED : kind
  value.writeUInt32BE(references, AT.references)
  writeNumber(value, length, AT.length)
  return value
}

function encodeParts(references: number, location: PartsLocation): Buffer {
  const { parts, digest, length, base } = location
  const first = base?.count ?? 0
  const width = base === undefined ? checksumBytes(parts) : 0
  const start = base === undefined ? PARTS_AT.list : APPENDED_AT.list
  const list = width === 0 ? start : start + 1 + parts.count * width
  const kind = base === undefined ? (width === 0 ? KIND.parts : KIND.parts | SUMMED) : KIND.appended
  const value = encodeStart(kind, false, references, length, list + (parts.count - first) * PART_BYTES)
  writeNumber(value, location.completion, PARTS_AT.completion)
  value[PARTS_AT.digested] = digest === undefined ? 0 : 1
  value.fill(0, PARTS_AT.digest, PARTS_AT.list)
  if (digest !== undefined) value.set(digest, PARTS_AT.digest)
  if (base !== undefined) {
    writeNumber(value, base.payload, APPENDED_AT.base)
    writeNumber(value, base.count, APPENDED_AT.count)
  }
  if (width > 0) {
    value[start] = width
    for (let index = 0; index < parts.count; index += 1) {
      value.set(parts.checksum(index) as Uint8Array, start + 1 + index * width)
    }
  }
  for (let index = first; index < parts.count; index += 1) {
    const at = list + (index - first) * PART_BYTES
    writeNumber(value, parts.payload(index) ?? 0, at)
    writeNumber(value, parts.size(index), at + 8)
  }
  return value
}

/** Length of each part's checksum; 0 unless every part has one. */
function checksumBytes(parts: PartList): number {
  for (let index = 0; index < parts.count; index += 1) if (parts.checksum(index) === undefined) return 0
  return parts.checksum(0)?.length ?? 0
}

/** The list of a row of parts that stands alone, and the checksums before it. */
function ownParts(row: Buffer): { readonly list: Buffer; readonly checksums: Buffer; readonly width: number } {
  const rest = row.subarray(PARTS_AT.list)
  if (((row[AT.kind] as number) & SUMMED) === 0) return { list: rest, checksums: NOTHING, width: 0 }
  const width = rest[0] as number
  const count = (rest.length - 1) / (width + PART_BYTES)
  const end = 1 + count * width
  return { list: rest.subarray(end), checksums: rest.subarray(1, end), width }
}

/** Reads parts from their rows one by one: there may be 10,000. */
function partList(list: Buffer, checksums: Buffer, width: number): PartList {
  return {
    count: list.length / PART_BYTES,
    payload: (index) => readPayload(list, index * PART_BYTES),
    size: (index) => readNumber(list, index * PART_BYTES + 8),
    checksum: (index) => (width === 0 ? undefined : checksums.subarray(index * width, (index + 1) * width)),
  }
}

/** The parts of an appended payload after its base's parts, and so on: at most a hundred rows of a hundred parts. */
function wholeList(table: TableReader, value: Buffer): Buffer {
  const lists: Buffer[] = []
  let row = value
  while (kindOf(row) === KIND.appended) {
    lists.unshift(row.subarray(APPENDED_AT.list))
    const base = readNumber(row, APPENDED_AT.base)
    const next = table.get(numberKey(base))
    if (next === undefined) throw new Error(`payload ${base}, the base of another, is not there`)
    row = next
  }
  return Buffer.concat([ownParts(row).list, ...lists])
}

function kindOf(value: Buffer): number {
  return (value[AT.kind] as number) & ~(SEALED | SUMMED)
}

/** Whether a row is of a payload with its own bytes, not of parts. */
export function isPlaced(value: Buffer): boolean {
  const kind = kindOf(value)
  return kind === KIND.volume || kind === KIND.file
}

/** @param table of payloads, which has the parts that a payload shares with its base */
export function decodePayload(table: TableReader, value: Buffer): PayloadRow {
  const kind = kindOf(value)
  const sealed = ((value[AT.kind] as number) & SEALED) !== 0
  const references = value.readUInt32BE(AT.references)
  const length = readNumber(value, AT.length)
  if (kind === KIND.volume) {
    const volume = volumeNumberOf(value.readUInt32BE(AT.volume))
    const offset = readNumber(value, AT.offset)
    const checksum = value.readUInt32BE(AT.checksum)
    return { references, location: { kind: 'volume', volume, offset, length, checksum, sealed } }
  }
  if (kind === KIND.parts || kind === KIND.appended) return { references, location: decodeParts(table, value, length) }
  return { references, location: { kind: 'file', name: value.toString('ascii', AT.name), length, sealed } }
}

function decodeParts(table: TableReader, value: Buffer, length: number): PartsLocation {
  const completion = sequenceOf(readNumber(value, PARTS_AT.completion))
  const digest = value[PARTS_AT.digested] === 1 ? value.subarray(PARTS_AT.digest, PARTS_AT.list) : undefined
  const common = { kind: 'parts', length, completion, digest } as const
  if (kindOf(value) === KIND.parts) {
    const { list, checksums, width } = ownParts(value)
    return { ...common, parts: partList(list, checksums, width) }
  }
  const base = {
    payload: payloadIdOf(readNumber(value, APPENDED_AT.base)),
    count: readNumber(value, APPENDED_AT.count),
  }
  return { ...common, parts: partList(wholeList(table, value), NOTHING, 0), base }
}

/** How many refer to a payload; 0 where there is no row. */
export function getReferences(table: TableReader, payload: PayloadId): number {
  const row = table.get(numberKey(payload))
  return row === undefined ? 0 : referencesOf(row)
}

export function getPayload(table: TableReader, payload: PayloadId): PayloadRow | undefined {
  const value = table.get(numberKey(payload))
  return value === undefined ? undefined : decodePayload(table, value)
}
