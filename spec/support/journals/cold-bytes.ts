/** Builds cold segments from `spec/formats/journal.md`, without any code of the server. */
import { crc32, deflateRawSync } from 'node:zlib'

const HEADER = Buffer.from('1f8b08000000000000ff', 'hex')
const INDEX_HEADER = Buffer.from('1f8b08040000000000ff', 'hex')
const INDEX_END = Buffer.from('03000000000000000000', 'hex')

/** What the index says of a block. */
export interface IndexEntry {
  plainBytes: number
  memberBytes: number
  checksum: number
}

/** What the index says, before its checksum is made. */
export interface IndexFields {
  entries: IndexEntry[]
  plainLength: number
  count: number
  subfieldId: string
}

/** A cold segment in parts, which may be altered. */
export interface ColdParts {
  readonly blocks: readonly Buffer[]
  members: Buffer[]
  index: Buffer
}

/** A gzip member with a block. `stated`: the length and checksum that it states, when they are not those of the block. */
export function member(
  plain: Buffer,
  stream: Buffer = deflateRawSync(plain),
  stated: { readonly length?: number; readonly checksum?: number } = {},
): Buffer {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(stated.checksum ?? crc32(plain), 0)
  trailer.writeUInt32LE(stated.length ?? plain.length, 4)
  return Buffer.concat([HEADER, stream, trailer])
}

/** The index of some blocks. */
export function indexOf(parts: Pick<ColdParts, 'blocks' | 'members'>, alter?: (fields: IndexFields) => void): Buffer {
  const entries = parts.members.map((bytes, index) => ({
    plainBytes: parts.blocks[index]?.length ?? 0,
    memberBytes: bytes.length,
    checksum: crc32(bytes),
  }))
  const plainLength = entries.reduce((sum, { plainBytes }) => sum + plainBytes, 0)
  const fields: IndexFields = { entries, plainLength, count: entries.length, subfieldId: 'OJ' }
  alter?.(fields)
  const subfieldBytes = fields.entries.length * 12 + 24
  const bytes = Buffer.alloc(16 + subfieldBytes)
  bytes.set(INDEX_HEADER)
  bytes.writeUInt16LE(subfieldBytes + 4, 10)
  bytes.write(fields.subfieldId, 12, 'ascii')
  bytes.writeUInt16LE(subfieldBytes, 14)
  for (const [index, { plainBytes, memberBytes, checksum }] of fields.entries.entries()) {
    bytes.writeUInt32BE(plainBytes, 16 + index * 12)
    bytes.writeUInt32BE(memberBytes, 20 + index * 12)
    bytes.writeUInt32BE(checksum, 24 + index * 12)
  }
  const footer = bytes.length - 24
  bytes.writeBigUInt64BE(BigInt(fields.plainLength), footer)
  bytes.writeUInt32BE(fields.count, footer + 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, footer + 12)), footer + 12)
  bytes.write('OSTCOLD1', footer + 16, 'ascii')
  return Buffer.concat([bytes, INDEX_END])
}

/** A plain segment in blocks of this length. The index is made by `coldBytes`, after the members were altered. */
export function coldParts(plain: Buffer, blockBytes: number): ColdParts {
  const count = Math.ceil(plain.length / blockBytes)
  const blocks = Array.from({ length: count }, (_, index) =>
    plain.subarray(index * blockBytes, (index + 1) * blockBytes),
  )
  const members = blocks.map((block) => member(block))
  return { blocks, members, index: indexOf({ blocks, members }) }
}

/** The cold form of a plain segment. */
export function coldBytes(plain: Buffer, blockBytes = 256 * 1024): Buffer {
  return fileOf(coldParts(plain, blockBytes))
}

/** The file of some parts. */
export function fileOf({ members, index }: ColdParts): Buffer {
  return Buffer.concat([...members, index])
}
