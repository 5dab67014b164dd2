import { createHash } from 'node:crypto'
import { CombinedCrc, isCombinable } from './combine-crc.ts'
import { crc32, crc32c } from './crc32.ts'
import type { ChecksumAlgorithm, UploadChecksum } from '../events/values.ts'

/** The checksum of one part, and how many bytes it is of. */
interface PartSum {
  readonly checksum: Uint8Array
  readonly size: number
}

/** Full-object or composite checksum of a multipart object. */
export function checksumOfParts({ algorithm, composite }: UploadChecksum, parts: readonly PartSum[]): Uint8Array {
  if (composite) return Uint8Array.from(digestOf(algorithm, Buffer.concat(parts.map(({ checksum }) => checksum))))
  if (!isCombinable(algorithm)) throw new Error(`${algorithm} of parts does not combine`)
  const crc = new CombinedCrc(algorithm)
  for (const { checksum, size } of parts) crc.add(checksum, size)
  return Uint8Array.from(crc.digest())
}

function digestOf(algorithm: ChecksumAlgorithm, bytes: Buffer): Buffer {
  switch (algorithm) {
    case 'sha1':
    case 'sha256':
      return createHash(algorithm).update(bytes).digest()
    case 'crc32':
      return bytesOf(crc32(bytes))
    case 'crc32c':
      return bytesOf(crc32c(bytes))
    case 'crc64nvme':
      throw new Error('CRC-64/NVME is never one of checksums')
  }
}

function bytesOf(crc: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(crc, 0)
  return bytes
}
