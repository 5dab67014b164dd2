import { crc32, inflateRawSync } from 'node:zlib'
import type { ColdBlock } from './cold-index.ts'

const HEADER = Buffer.from('1f8b08000000000000ff', 'hex')
/** CRC-32 and length. */
const TRAILER_BYTES = 8
/** Room beyond the block, so that zlib ends in one piece. */
const ROOM_BYTES = 64

/** Result of zlib with `info`: the output, and the engine, which counts the input that it took. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

/**
 * Inflates a gzip member of a cold segment (RFC 1951, RFC 1952) and checks it against the format.
 * @param block from the index: never more than its length and a few bytes is inflated
 * @returns the block, or its fault
 */
export function inflateMember(
  member: Buffer,
  { plainBytes, memberBytes, memberChecksum }: ColdBlock,
): Buffer | { readonly fault: string } {
  if (member.length < memberBytes) return { fault: 'the file ends within the block' }
  if (crc32(member) !== memberChecksum)
    return { fault: 'the block is not the one of the index: its checksum is another' }
  if (!member.subarray(0, HEADER.length).equals(HEADER)) return { fault: 'the gzip header of the block is wrong' }
  const trailer = member.length - TRAILER_BYTES
  const stated = member.readUInt32LE(trailer + 4)
  if (stated !== plainBytes) {
    return { fault: `the block states ${stated} bytes, the index ${plainBytes}` }
  }
  const inflated = inflate(member.subarray(HEADER.length, trailer), plainBytes)
  if ('fault' in inflated) return inflated
  const { buffer, engine } = inflated
  if (engine.bytesWritten !== trailer - HEADER.length) {
    return { fault: 'bytes are between the compressed block and its checksum' }
  }
  if (buffer.length !== plainBytes) return { fault: `the block inflates to ${buffer.length} bytes, not ${plainBytes}` }
  return crc32(buffer) === member.readUInt32LE(trailer)
    ? buffer
    : { fault: 'the checksum of the inflated block is wrong' }
}

function inflate(stream: Buffer, plainBytes: number): Inflated | { readonly fault: string } {
  try {
    const options = { info: true, maxOutputLength: plainBytes, chunkSize: plainBytes + ROOM_BYTES }
    return inflateRawSync(stream, options) as unknown as Inflated
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE') return { fault: `the block inflates to more than ${plainBytes} bytes` }
    return { fault: `the block cannot be inflated: ${message}` }
  }
}
