import type { PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import { numberKey, readNumber, writeNumber } from '../keys.ts'
import type { TableReader } from '../lmdb-environment.ts'

/**
 * `payloads`: where the bytes of a payload are, and how many objects refer to them. One place to change when bytes
 * move, whatever the number of copies.
 *
 *   key   = payload id (8)
 *   value = kind (1: 1 volume, 2 file) | references (4) | length (8)
 *           | volume: volume (4) | offset (8) | CRC-32 (4)
 *           | file: name in ASCII
 *
 * `payload-files`: name of a payload file -> payload id (8); tells an orphan from a file in use.
 */
export const PAYLOADS = 'payloads'
export const PAYLOAD_FILES = 'payload-files'

const KIND = { volume: 1, file: 2 } as const
const AT = { kind: 0, references: 1, length: 5, volume: 13, offset: 17, checksum: 25, name: 13 } as const
const VOLUME_ROW_BYTES = 29

export interface PayloadRow {
  readonly references: number
  readonly location: PayloadLocation
}

export function encodePayload(row: PayloadRow): Buffer {
  const { location } = row
  const name = location.kind === 'file' ? location.name : undefined
  const value = Buffer.allocUnsafe(name === undefined ? VOLUME_ROW_BYTES : AT.name + name.length)
  value[AT.kind] = KIND[location.kind]
  value.writeUInt32BE(row.references, AT.references)
  writeNumber(value, location.length, AT.length)
  if (location.kind === 'volume') {
    value.writeUInt32BE(location.volume, AT.volume)
    writeNumber(value, location.offset, AT.offset)
    value.writeUInt32BE(location.checksum, AT.checksum)
  } else {
    value.write(location.name, AT.name, 'ascii')
  }
  return value
}

export function decodePayload(value: Buffer): PayloadRow {
  const references = value.readUInt32BE(AT.references)
  const length = readNumber(value, AT.length)
  if (value[AT.kind] === KIND.volume) {
    const volume = value.readUInt32BE(AT.volume)
    const offset = readNumber(value, AT.offset)
    const checksum = value.readUInt32BE(AT.checksum)
    return { references, location: { kind: 'volume', volume, offset, length, checksum } }
  }
  return { references, location: { kind: 'file', name: value.toString('ascii', AT.name), length } }
}

export function getPayload(table: TableReader, payload: number): PayloadRow | undefined {
  const value = table.get(numberKey(payload))
  return value === undefined ? undefined : decodePayload(value)
}
