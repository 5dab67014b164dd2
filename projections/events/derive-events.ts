/** Which storage events the changes of an entry are (specification, Storage event types; spec/decisions/0060). */
import type { BucketId, Sequence, UploadId } from '../../engine/brands.ts'
import { partNumbers } from '../../engine/domain/part-set.ts'
import type { AuditPart } from '../../engine/events/audit.ts'
import type { Change, ChangeNamed } from '../../engine/events/changes.ts'
import { tagQuery } from '../../engine/domain/tags.ts'
import { contentTypeOf } from '../../engine/events/values.ts'
import type { StorageEventType } from './storage-event.ts'

/** A version as the journal names it. */
export interface VersionFact {
  readonly sequence: Sequence
  readonly isNull: boolean
}

type Value = string | number | boolean | VersionFact | { readonly upload: UploadId } | { readonly bucketId: BucketId }

/** One event, with ids of the journal in place of names. */
export interface EventFact {
  readonly type: StorageEventType
  readonly bucketId: BucketId
  readonly key?: string
  readonly version?: VersionFact
  readonly size?: number | undefined
  readonly metadata: Readonly<Record<string, Value | undefined>>
}

type Derive<C> = (change: C, sequence: Sequence, changes: readonly Change[]) => readonly EventFact[]

/** The version that an entry wrote. */
function written(
  sequence: Sequence,
  { version }: ChangeNamed<'object.written'> | ChangeNamed<'marker.written'>,
): VersionFact {
  return { sequence, isNull: version?.isNull ?? true }
}

function typeOfWrite({ source, replaced }: ChangeNamed<'object.written'>): StorageEventType {
  if (source?.restores === true) return 'object.restored'
  return replaced ? 'object.updated' : 'object.created'
}

/** The object that the completion of an upload wrote, by the same entry, and the completion. */
function ofSameKey<N extends 'object.written' | 'upload.completed'>(
  name: N,
  { bucketId, key }: { readonly bucketId: BucketId; readonly key: string },
  changes: readonly Change[],
): ChangeNamed<N> | undefined {
  return changes.find(
    (change): change is ChangeNamed<N> => change.name === name && change.bucketId === bucketId && change.key === key,
  )
}

/** The tags of the version that an entry wrote, in the form of `x-amz-tagging`; undefined without tags. */
function tagsOf(
  sequence: Sequence,
  { bucketId, key }: ChangeNamed<'object.written'>,
  changes: readonly Change[],
): string | undefined {
  if (changes.length === 1) return undefined
  const tagged = changes.find(
    (change) =>
      change.name === 'version.tagged' &&
      change.version === sequence &&
      change.bucketId === bucketId &&
      change.key === key,
  )
  return tagged?.name === 'version.tagged' ? tagQuery(tagged.tags) : undefined
}

function countParts(bits: Uint8Array): number {
  let count = 0
  for (const _ of partNumbers(bits)) count += 1
  return count
}

const DERIVE: { readonly [N in Change['name']]?: Derive<ChangeNamed<N>> } = {
  'bucket.created': ({ bucketId, region, lockEnabled }) => [
    { type: 'bucket.created', bucketId, metadata: { region, object_lock: lockEnabled } },
  ],
  'bucket.deleted': ({ bucketId }) => [{ type: 'bucket.deleted', bucketId, metadata: {} }],
  'object.written': (change, sequence, changes) => {
    const { bucketId, key, size, etag, headers, source } = change
    const upload = changes.length === 1 ? undefined : ofSameKey('upload.completed', change, changes)
    return [
      {
        type: typeOfWrite(change),
        bucketId,
        key,
        version: written(sequence, change),
        size,
        metadata: {
          etag,
          content_type: contentTypeOf(headers),
          upload_id: upload && { upload: upload.upload },
          source_bucket: source && { bucketId: source.bucketId },
          source_key: source?.key,
          source_version_id: source && { sequence: source.version, isNull: source.isNull },
          tags: tagsOf(sequence, change, changes),
        },
      },
    ]
  },
  'object.deleted': ({ bucketId, key, size }, sequence) => [
    {
      type: 'object.deleted',
      bucketId,
      key,
      version: { sequence, isNull: true },
      size,
      metadata: { delete_marker: false, permanent: true },
    },
  ],
  'marker.written': (change, sequence) => [
    {
      type: 'object.deleted',
      bucketId: change.bucketId,
      key: change.key,
      version: written(sequence, change),
      size: 0,
      metadata: { delete_marker: true, permanent: false },
    },
  ],
  // The tags that a version is born with are in the event of its writing.
  'version.tagged': ({ bucketId, key, version, isNull, size, tags }, sequence) => {
    if (version === sequence) return []
    const type = tags.length === 0 ? 'object.untagged' : 'object.tagged'
    const metadata = { tags: tags.length === 0 ? undefined : tagQuery(tags) }
    return [{ type, bucketId, key, version: { sequence: version, isNull }, size, metadata }]
  },
  'version.deleted': ({ bucketId, key, version, promotes, removed, current }) => {
    const gone = { sequence: version, isNull: removed.isNull }
    const deleted: EventFact = {
      type: 'object.deleted',
      bucketId,
      key,
      version: gone,
      size: removed.size,
      metadata: { delete_marker: removed.isMarker, permanent: true },
    }
    if (promotes === undefined) return [deleted]
    const restored: EventFact = {
      type: 'object.restored',
      bucketId,
      key,
      version: { sequence: promotes, isNull: current?.isNull ?? false },
      size: current?.size,
      metadata: { etag: current?.etag, content_type: current?.contentType, removed_version_id: gone },
    }
    return [deleted, restored]
  },
  'upload.completed': (change, sequence, changes) => {
    const { bucketId, key, upload, listed } = change
    const object = ofSameKey('object.written', change, changes)
    if (object === undefined) throw new Error(`entry ${sequence} completes an upload and writes no object`)
    return [
      {
        type: 'multipart.completed',
        bucketId,
        key,
        version: written(sequence, object),
        size: object.size,
        metadata: {
          etag: object.etag,
          content_type: contentTypeOf(object.headers),
          upload_id: { upload },
          parts: countParts(listed),
        },
      },
    ]
  },
  'upload.aborted': ({ bucketId, key, upload, dropped, bytes }) => [
    {
      type: 'multipart.aborted',
      bucketId,
      key,
      size: bytes,
      metadata: { upload_id: { upload }, parts: countParts(dropped) },
    },
  ],
}

/** Whether a change makes storage events. Settings, locks, parts and the work of the store itself make none. */
export function makesEvents({ name }: Pick<Change, 'name'>): boolean {
  return name in DERIVE
}

/** The storage events of an entry, in the order of its changes. */
export function deriveEvents(sequence: Sequence, changes: readonly Change[]): EventFact[] {
  return changes.flatMap((change) => {
    const derive = DERIVE[change.name] as Derive<Change> | undefined
    return derive?.(change, sequence, changes) ?? []
  })
}

/** The kind of requester: an event goes to systems that may not know accounts. */
export function principalKind({ principal }: Pick<AuditPart, 'principal'>): string {
  if (principal === 'system:root') return 'root'
  const colon = principal.indexOf(':')
  return colon === -1 ? principal : principal.slice(0, colon)
}
