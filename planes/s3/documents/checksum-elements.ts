/** Checksum elements of documents. Names and order follow the S3 API reference. */

import type { ChecksumAlgorithm, ObjectChecksum, UploadChecksum } from '../../../engine/events/values.ts'
import { element } from '../text/xml-writer.ts'

/** As S3 spells an algorithm, such as `CRC32`. */
export function algorithmName(algorithm: ChecksumAlgorithm): string {
  return algorithm.toUpperCase()
}

/** As S3 calls a checksum of checksums, and one of all bytes. */
export function typeName({ composite }: Pick<UploadChecksum, 'composite'>): 'COMPOSITE' | 'FULL_OBJECT' {
  return composite ? 'COMPOSITE' : 'FULL_OBJECT'
}

/** The element of a checksum, such as `ChecksumCRC32`. */
export function checksumElement(algorithm: ChecksumAlgorithm, value: Uint8Array): string {
  return element(`Checksum${algorithmName(algorithm)}`, base64Of(value))
}

/** `ChecksumAlgorithm` and `ChecksumType` of what has a checksum, or nothing. */
export function checksumKindElements(checksum: UploadChecksum | undefined): string {
  if (checksum === undefined) return ''
  return element('ChecksumAlgorithm', algorithmName(checksum.algorithm)) + element('ChecksumType', typeName(checksum))
}

/** The checksum of an object and its type, or nothing. */
export function objectChecksumElements(checksum: ObjectChecksum | undefined, etag: string): string {
  if (checksum === undefined) return ''
  const text = checksumText(checksum, etag)
  return element(`Checksum${algorithmName(checksum.algorithm)}`, text) + element('ChecksumType', typeName(checksum))
}

/** A checksum as text; a checksum of checksums with their number after it, which is that in the ETag. */
export function checksumText({ value, composite }: ObjectChecksum, etag: string): string {
  return composite ? `${base64Of(value)}${etag.slice(etag.lastIndexOf('-'))}` : base64Of(value)
}

function base64Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64')
}
