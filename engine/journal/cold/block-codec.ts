import { crc32 } from '../../hashing/crc32.ts'
import { deflateRaw, inflateRaw, inflateRawSync, type InputType, type ZlibOptions } from 'node:zlib'
import { BLOCK_HEADER, MEMBER_TRAILER_BYTES } from './cold-format.ts'
import type { MemberFacts } from './cold-index.ts'

/** Result of zlib with `info`: one piece of output, and how much of the input it took. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

/** More than one piece of output would be copied together. */
const BESIDE_BYTES = 64

function inflateOptions(plainBytes: number): ZlibOptions {
  return { info: true, maxOutputLength: plainBytes, chunkSize: plainBytes + BESIDE_BYTES }
}

/** The member that holds a block: a whole gzip file by itself. Deflates in a thread of libuv. */
export async function encodeBlock(plain: Uint8Array, level: number): Promise<Buffer> {
  const trailer = Buffer.alloc(MEMBER_TRAILER_BYTES)
  trailer.writeUInt32LE(crc32(plain), 0)
  trailer.writeUInt32LE(plain.length, 4)
  const stream = await new Promise<Buffer>((resolve, reject) => {
    deflateRaw(plain, { level }, (error, result) => (error === null ? resolve(result) : reject(error)))
  })
  return Buffer.concat([BLOCK_HEADER, stream, trailer])
}

/** The plain bytes of a block; undefined when its member is damaged in any way. */
export function decodeBlock(member: Buffer, facts: MemberFacts): Buffer | undefined {
  const { plainBytes } = facts
  if (!frameIsRight(member, facts)) return undefined
  try {
    const inflated = inflateRawSync(streamOf(member), inflateOptions(plainBytes)) as unknown as Inflated
    return checked(member, plainBytes, inflated)
  } catch {
    return undefined
  }
}

/** The same, inflated in a thread of libuv. */
export async function decodeBlockAsync(member: Buffer, facts: MemberFacts): Promise<Buffer | undefined> {
  const { plainBytes } = facts
  if (!frameIsRight(member, facts)) return undefined
  return await new Promise((resolve) => {
    const inflate = inflateRaw as (
      input: InputType,
      options: ZlibOptions,
      done: (error: Error | null, result: unknown) => void,
    ) => void
    inflate(streamOf(member), inflateOptions(plainBytes), (error, result) => {
      resolve(error === null ? checked(member, plainBytes, result as Inflated) : undefined)
    })
  })
}

function streamOf(member: Buffer): Buffer {
  return member.subarray(BLOCK_HEADER.length, member.length - MEMBER_TRAILER_BYTES)
}

/** The CRC-32 of the whole member also covers what inflating ignores: the bits after the end of the stream. */
function frameIsRight(member: Buffer, { plainBytes, memberBytes, checksum }: MemberFacts): boolean {
  if (member.length !== memberBytes || crc32(member) !== checksum) return false
  const isHeader = member.compare(BLOCK_HEADER, 0, BLOCK_HEADER.length, 0, BLOCK_HEADER.length) === 0
  return isHeader && member.readUInt32LE(member.length - 4) === plainBytes
}

/** The stream must end at the trailer, so that no bytes hide between two members. */
function checked(member: Buffer, plainBytes: number, { buffer, engine }: Inflated): Buffer | undefined {
  if (buffer.length !== plainBytes || engine.bytesWritten !== streamOf(member).length) return undefined
  return crc32(buffer) === member.readUInt32LE(member.length - MEMBER_TRAILER_BYTES) ? buffer : undefined
}
