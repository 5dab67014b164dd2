import { headerPairs, headerText, objectKey, tagPairs } from './names.ts'
import { defineChange } from './schema/change.ts'
import { bucketId, digest, flag, integer, optional, orZero, sequence } from './schema/kinds.ts'
import { field, trailing } from './schema/record.ts'
import {
  copySource,
  lockState,
  objectChecksum,
  payloadReference,
  promotedVersion,
  removedVersion,
  versionPlace,
} from './values.ts'

const object = { bucketId: field(bucketId, 'bucket id'), key: field(objectKey, 'key') }
const version = field(sequence, 'version')

export const objectWritten = defineChange('object.written', 3, {
  ...object,
  size: field(integer, 'size'),
  etag: field(headerText, 'ETag', 'without quotes'),
  digest: field(digest, 'SHA-256 of the bytes', 'zeros for an object of parts, whose payload is digested later'),
  headers: field(headerPairs, 'headers', 'Content-Type and the others that are given back'),
  metadata: field(headerPairs, 'user metadata', 'names without `x-amz-meta-`'),
  payload: field(optional(payloadReference), 'payload', 'nil if there are no bytes'),
  replaced: field(flag, 'replaced', 'true when a current object was there'),
  version: trailing(optional(versionPlace), undefined, 'place', 'nil in a bucket without versioning'),
  lock: trailing(optional(lockState), undefined, 'lock'),
  checksum: trailing(optional(objectChecksum), undefined, 'checksum', 'of the whole object'),
  source: trailing(optional(copySource), undefined, 'source', 'of a copy or a rename'),
})

export const objectDeleted = defineChange('object.deleted', 4, {
  ...object,
  size: field(integer, 'size', 'of the object'),
})

/** A delete marker becomes the newest version of a key. */
export const markerWritten = defineChange('marker.written', 12, { ...object, version: field(versionPlace, 'place') })

/** One version or marker is removed for ever. */
export const versionDeleted = defineChange('version.deleted', 13, {
  ...object,
  version,
  promotes: field(orZero(sequence), 'promoted', 'the version that becomes the current object'),
  removed: field(removedVersion, 'removed'),
  current: field(optional(promotedVersion), 'current', 'what is promoted'),
  uncovers: field(optional(sequence), 'uncovered', 'the delete marker that becomes the newest version'),
})

export const versionLocked = defineChange('version.locked', 14, { ...object, version, lock: field(lockState, 'lock') })

/** All tags of a version, which may have been written by the same entry. Its size is for its storage event. */
export const versionTagged = defineChange('version.tagged', 82, {
  ...object,
  version,
  isNull: field(flag, 'is null', 'whether the version id is `null`'),
  size: field(integer, 'size', 'of the version'),
  tags: field(tagPairs, 'tags', 'all that it has now; none: they are removed'),
})
