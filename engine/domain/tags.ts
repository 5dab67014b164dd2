import type { BucketId, Sequence } from '../brands.ts'
import type { SpineChange } from '../events/spine-changes.ts'
import type { ObjectState } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import { NOTHING_CHANGES, type Rules } from './decision.ts'
import { requireVersion } from './lock.ts'

/** Tags of one object and of one bucket at most (S3 user guide). */
export const OBJECT_TAGS_MAXIMUM = 10
export const BUCKET_TAGS_MAXIMUM = 50
/**
 * UTF-8 bytes of all keys and values together: an entry has 32 KiB at most, and the entry of a copy has headers of 16 KiB besides.
 * As many of the longest tags as there may be have 3,840 and 19,200 in ASCII.
 */
export const OBJECT_TAG_BYTES_MAXIMUM = 8 * 1024
export const BUCKET_TAG_BYTES_MAXIMUM = 24 * 1024

/** Tags as one text, in the form of the header `x-amz-tagging`: `key=value&key=value`, percent-encoded. */
export function tagQuery(tags: readonly string[]): string {
  let text = ''
  for (let at = 0; at < tags.length; at += 2) {
    const [key, value] = [tags[at] as string, tags[at + 1] as string]
    text += `${at === 0 ? '' : '&'}${encodeURIComponent(key)}=${encodeURIComponent(value)}`
  }
  return text
}

/** The version that an entry writes. */
interface WrittenVersion {
  readonly bucketId: BucketId
  readonly key: string
  readonly size: number
  /** As the change has it; undefined without versioning. */
  readonly version: { readonly isNull: boolean } | undefined
}

/** The change that gives the version of the same entry its tags: none without tags, which costs a write nothing. */
export function tagsAtBirth(
  { bucketId, key, size, version }: WrittenVersion,
  tags: readonly string[] | undefined,
  sequence: Sequence,
): readonly SpineChange[] {
  if (tags === undefined || tags.length === 0) return []
  return [{ name: 'version.tagged', bucketId, key, version: sequence, isNull: version?.isNull ?? true, size, tags }]
}

function hasTags({ tags }: Pick<ObjectState, 'tags'>): boolean {
  return tags !== undefined && tags.length > 0
}

export const tagRules = {
  /** A lock protects the bytes of a version and their end, not its tags: as on S3. */
  'set-tags'(command, { state }) {
    const bucket = requireBucket(state, command.bucket)
    const { key, tags } = command
    const found = requireVersion(command, bucket, state)
    const { sequence, isNull, size } = found
    const version = isNull ? 'null' : sequence
    if (tags.length === 0 && !hasTags(found)) return { changes: [], version }
    return {
      changes: [{ name: 'version.tagged', bucketId: bucket.id, key, version: sequence, isNull, size, tags }],
      version,
    }
  },

  'set-bucket-tags'({ bucket: name, tags }, { state }) {
    const { id: bucketId, name: bucket } = requireBucket(state, name)
    if (tags.length === 0 && state.bucketTags(bucketId).length === 0) return NOTHING_CHANGES
    return { changes: [{ name: 'bucket.tagged', bucketId, bucket, tags }] }
  },
} satisfies Partial<Rules>
