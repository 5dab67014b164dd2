import { checksumValue, headerPairs, md5, objectKey, partNumber, parts, tagPairs } from './names.ts'
import { defineChange } from './schema/change.ts'
import { bucketId, digest, flag, integer, optional, uploadId } from './schema/kinds.ts'
import { field, trailing } from './schema/record.ts'
import { lockState, payloadReference, retention, uploadChecksum } from './values.ts'

const object = { bucketId: field(bucketId, 'bucket id'), key: field(objectKey, 'key') }
const upload = { ...object, upload: field(uploadId, 'upload id') }

/** The upload's id is the sequence of the entry. */
export const uploadCreated = defineChange('upload.created', 15, {
  ...object,
  headers: field(headerPairs, 'headers'),
  metadata: field(headerPairs, 'user metadata'),
  lock: field(
    optional(lockState),
    'lock',
    "what was asked for; without a retention in it the bucket's default gives one",
  ),
  given: trailing(
    optional(retention),
    undefined,
    'default',
    "the retention that the bucket's default gave at creation",
  ),
  checksum: trailing(optional(uploadChecksum), undefined, 'checksum', 'what was asked for'),
})

/** The tags that the object will have; the upload is created by the same entry. */
export const uploadTagged = defineChange('upload.tagged', 83, { ...upload, tags: field(tagPairs, 'tags') })

export const uploadPartWritten = defineChange('upload.part-written', 16, {
  ...upload,
  part: field(partNumber, 'part number', '1 to 10,000'),
  size: field(integer, 'size'),
  etag: field(md5, 'MD5', 'in hexadecimal'),
  digest: field(digest, 'SHA-256 of the bytes'),
  payload: field(optional(payloadReference), 'payload', 'nil if there are no bytes'),
  replaced: field(flag, 'replaced', 'true when a part of this number was there, which is dropped'),
  checksum: trailing(optional(checksumValue), undefined, 'checksum', 'by the algorithm that the upload asked for'),
})

/**
 * The listed parts become one payload, whose id is the upload's; an `object.written` of the same entry refers to
 * it. Parts that are not listed are dropped.
 */
export const uploadCompleted = defineChange('upload.completed', 17, {
  ...upload,
  listed: field(parts, 'listed', 'those of the object'),
  dropped: field(parts, 'dropped', 'the others'),
})

export const uploadAborted = defineChange('upload.aborted', 18, {
  ...upload,
  dropped: field(parts, 'dropped', 'those that were there'),
  bytes: field(integer, 'bytes', 'of those parts'),
})
