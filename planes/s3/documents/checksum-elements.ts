/** Checksum elements of documents. Names and order follow the S3 API reference. */

import type { ChecksumAlgorithm, ObjectChecksum, UploadChecksum } from '../../../engine/events/values.ts'
import { element } from '../text/xml-writer.ts'

/** S3's name of an algorithm, such as `CRC32`. */
export function algorithmName(algorithm: ChecksumAlgorithm): string {
  return algorithm.toUpperCase()
}

/** S3's name of the type: a checksum of the parts' checksums, or of all bytes. */
export function typeName({ composite }: Pick<UploadChecksum, 'composite'>): 'COMPOSITE' | 'FULL_OBJECT' {
  return composite ? 'COMPOSITE' : 'FULL_OBJECT'
}

/** The element of a checksum, such as `ChecksumCRC32`. */
export function checksumElement(algorithm: ChecksumAlgorithm, value: Uint8Array): string {
  return element(`Checksum${algorithmName(algorithm)}`, base64Of(value))
}

/** The elements `ChecksumAlgorithm` and `ChecksumType`; empty without a checksum. */
export function checksumKindElements(checksum: UploadChecksum | undefined): string {
  if (checksum === undefined) return ''
  return element('ChecksumAlgorithm', algorithmName(checksum.algorithm)) + element('ChecksumType', typeName(checksum))
}

/** The checksum of an object and its type; empty without a checksum. */
export function objectChecksumElements(checksum: ObjectChecksum | undefined, etag: string): string {
  if (checksum === undefined) return ''
  const text = checksumText(checksum, etag)
  return element(`Checksum${algorithmName(checksum.algorithm)}`, text) + element('ChecksumType', typeName(checksum))
}

/** A checksum as text; a composite checksum is followed by the number of parts, taken from the ETag. */
export function checksumText({ value, composite }: ObjectChecksum, etag: string): string {
  return composite ? `${base64Of(value)}${etag.slice(etag.lastIndexOf('-'))}` : base64Of(value)
}

function base64Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64')
}
