/** Ways to damage the file of a cold segment, and what a verifier must say of it. */
import { deflateRawSync } from 'node:zlib'
import { type ColdParts, coldParts, fileOf, indexOf, type IndexFields, member } from './cold-bytes.ts'

export interface DamagedCold {
  readonly name: string
  /** The damaged file. */
  readonly damage: (plain: Buffer) => Buffer
  /** Number of the block that cannot be read; undefined when the whole file cannot. */
  readonly block?: number
  /** What the verifier names. */
  readonly detail: RegExp
}

/** Short, so that a small segment has many blocks. */
export const SMALL_BLOCK_BYTES = 512
/** The block that is damaged. */
const BLOCK = 1

/** Another member in the place of one, which the index states. */
function replaced(name: string, detail: RegExp, make: (block: Buffer, whole: Buffer) => Buffer): DamagedCold {
  const damage = (plain: Buffer): Buffer => {
    const parts = coldParts(plain, SMALL_BLOCK_BYTES)
    parts.members[BLOCK] = make(parts.blocks[BLOCK] as Buffer, parts.members[BLOCK] as Buffer)
    return fileOf({ ...parts, index: indexOf(parts) })
  }
  return { name, damage, block: BLOCK, detail }
}

/** The bytes of a member altered in place. */
function altered(name: string, detail: RegExp, alter: (bytes: Buffer) => void): DamagedCold {
  return replaced(name, detail, (_, whole) => {
    alter(whole)
    return whole
  })
}

/** An index that states something else. */
function stated(name: string, detail: RegExp, alter: (fields: IndexFields) => void): DamagedCold {
  const damage = (plain: Buffer): Buffer => {
    const parts = coldParts(plain, SMALL_BLOCK_BYTES)
    return fileOf({ ...parts, index: indexOf(parts, alter) })
  }
  return { name, damage, detail }
}

/** The parts altered as a whole. */
function file(name: string, detail: RegExp, alter: (parts: ColdParts) => Buffer): DamagedCold {
  return { name, damage: (plain) => alter(coldParts(plain, SMALL_BLOCK_BYTES)), detail }
}

function bumped(bytes: Buffer, offset: number): void {
  const at = offset < 0 ? bytes.length + offset : offset
  bytes[at] = ((bytes[at] as number) + 1) % 256
}

const members: readonly DamagedCold[] = [
  altered('another magic', /gzip header of the block/, (bytes) => bumped(bytes, 0)),
  altered('another method', /gzip header of the block/, (bytes) => bumped(bytes, 2)),
  altered('a flag', /gzip header of the block/, (bytes) => bumped(bytes, 3)),
  altered('a time', /gzip header of the block/, (bytes) => bumped(bytes, 4)),
  altered('another system', /gzip header of the block/, (bytes) => bumped(bytes, 9)),
  altered('a wrong checksum', /checksum of the inflated block/, (bytes) => bumped(bytes, -8)),
  altered('another length', /the block states \d+ bytes, the index 512/, (bytes) => bumped(bytes, -4)),
  altered('an invalid block type', /cannot be inflated/, (bytes) => (bytes[10] = 0xff)),
  replaced('a stream that is cut off', /cannot be inflated: unexpected end/, (block) =>
    member(block, deflateRawSync(block).subarray(0, -4)),
  ),
  replaced('bytes after the stream', /bytes are between/, (block) =>
    member(block, Buffer.concat([deflateRawSync(block), Buffer.alloc(3)])),
  ),
  replaced('a second stream after it', /bytes are between/, (block) =>
    member(block, Buffer.concat([deflateRawSync(block), deflateRawSync(Buffer.alloc(9))])),
  ),
  replaced('fewer bytes than stated', /inflates to 511 bytes, not 512/, (block) =>
    member(block, deflateRawSync(block.subarray(1))),
  ),
  replaced('more bytes than stated', /inflates to more than 512 bytes/, (block) =>
    member(block, deflateRawSync(Buffer.concat([block, Buffer.alloc(1)]))),
  ),
  replaced('a bomb', /inflates to more than 512 bytes/, (block) =>
    member(block, deflateRawSync(Buffer.alloc(1 << 20))),
  ),
  replaced('bytes of another segment with the checksum of this one', /checksum of the inflated block/, (block) =>
    member(block, deflateRawSync(Buffer.alloc(512, 1))),
  ),
  {
    ...stated('a member of another checksum', /not the one of the index/, ({ entries }) => {
      if (entries[BLOCK] !== undefined) entries[BLOCK].checksum = (entries[BLOCK].checksum ^ 1) >>> 0
    }),
    block: BLOCK,
  },
  replaced('nothing but zeros', /gzip header of the block/, (_, whole) => Buffer.alloc(whole.length)),
]

const NO_INDEX = /does not end with the index/
const IMPOSSIBLE = /which no block can have/

const indexes: readonly DamagedCold[] = [
  stated('a count of one more', /checksum of the index|the file cannot have/, (fields) => (fields.count += 1)),
  stated('a count of one less', /checksum of the index/, (fields) => (fields.count -= 1)),
  stated('a count of zero', /states 0 blocks/, (fields) => (fields.count = 0)),
  stated('a count beyond all bounds', /the file cannot have/, (fields) => (fields.count = 5459)),
  stated('another name of the subfield', /gzip header of the index/, (fields) => (fields.subfieldId = 'XJ')),
  stated('another length of the segment', /its blocks have/, (fields) => (fields.plainLength -= 8)),
  stated('a longer member', /take \d+ bytes/, ({ entries }) => entries.forEach((entry) => (entry.memberBytes += 1))),
  stated('a block without bytes', IMPOSSIBLE, ({ entries }) => entries.forEach((entry) => (entry.plainBytes = 0))),
  stated('a block beyond all bounds', IMPOSSIBLE, ({ entries }) =>
    entries.forEach((entry) => (entry.plainBytes = (1 << 20) + 1)),
  ),
  stated('a member without bytes', IMPOSSIBLE, ({ entries }) => entries.forEach((entry) => (entry.memberBytes = 20))),
  stated('a member much longer than its block', IMPOSSIBLE, ({ entries }) =>
    entries.forEach((entry) => (entry.memberBytes = entry.plainBytes + 1025)),
  ),
  file('no index', NO_INDEX, ({ members: all }) => Buffer.concat(all)),
  file('bytes after the index', NO_INDEX, (parts) => Buffer.concat([fileOf(parts), Buffer.alloc(1)])),
  file('a file that is cut off', NO_INDEX, (parts) => fileOf(parts).subarray(0, -1)),
  file('a file of four bytes', NO_INDEX, (parts) => fileOf(parts).subarray(0, 4)),
  file('a member that is not there', /take \d+ bytes/, (parts) =>
    fileOf({ ...parts, members: parts.members.toSpliced(2, 1) }),
  ),
  file('a member that is there twice', /take \d+ bytes/, (parts) =>
    fileOf({ ...parts, members: [...parts.members, parts.members[0] as Buffer] }),
  ),
  file('an index of gzip with another flag', /gzip header of the index|checksum of the index/, (parts) => {
    parts.index[3] = 0
    return fileOf(parts)
  }),
]

/** Every one of them has one thing wrong in a segment of at least three blocks. */
export const damagedCold: readonly DamagedCold[] = [...members, ...indexes]
