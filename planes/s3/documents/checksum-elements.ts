/** Checksum elements of documents. Names and order follow the S3 API reference. */

import type { ChecksumAlgorithm, ObjectChecksum, UploadChecksum } from '../../../engine/events/values.ts'
import { algorithmName, base64Of, checksumText, typeName } from '../request/checksums.ts'
import { element } from '../text/xml-writer.ts'

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
