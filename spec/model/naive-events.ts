/**
 * The storage events that a command makes, by the page on them (spec/manual/management/events.md) and from what the model held
 * before and after it: no code of the store is asked.
 */
import type { Command } from '../../engine/commands/commands.ts'
import { tagText } from './naive-tags.ts'
import type { Outcome } from './refusals.ts'
import type { ModelState, ModelUpload, ModelVersion } from './state.ts'

/** A version as `null`, or by the sequence of the command that made it. */
type EventVersion = 'null' | number

export interface ModelEvent {
  /** Of the command that made it. */
  readonly sequence: number
  readonly type: string
  readonly bucket: string
  readonly key?: string
  readonly version?: EventVersion
  readonly size?: number
  /** Metadata but for who asked; versions and uploads by their sequences. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** What has to be known from before a command. */
export interface Before {
  readonly bucketWasThere: boolean
  readonly current: ModelVersion | undefined
  /** Of a deletion: the version that it names, or the newest one of the key. */
  readonly found: ModelVersion | undefined
  readonly newest: ModelVersion | undefined
  /** Of a change of tags: those that the version had. */
  readonly tags: string | undefined
  readonly source: ModelVersion | undefined
  readonly upload: UploadContent | undefined
  /** Of a deletion of a bucket: its uploads in progress, by key. */
  readonly uploads: readonly (UploadContent & { readonly key: string; readonly upload: number })[]
}

interface UploadContent {
  readonly bucket: string
  readonly bytes: number
  readonly parts: number
}

function contentOf({ bucket, parts }: ModelUpload): UploadContent {
  const bytes = [...parts.values()].reduce((sum, { size }) => sum + size, 0)
  return { bucket, bytes, parts: parts.size }
}

export function before(state: ModelState, command: Command): Before {
  const bucket = 'bucket' in command ? state.buckets.get(command.bucket ?? '') : undefined
  const key = 'key' in command ? command.key : ''
  const [newest] = state.versions(bucket, key)
  const isTagging = command.kind === 'set-tags'
  const isVersion = (command.kind === 'delete-object' || isTagging) && command.version !== undefined
  const found = isVersion ? state.find(bucket, key, command.version ?? 'unknown') : newest
  const isRename = command.kind === 'rename-object'
  const from = command.kind === 'copy-object' ? state.buckets.get(command.sourceBucket) : isRename ? bucket : undefined
  const sources = command.kind === 'copy-object' || isRename ? state.versions(from, command.sourceKey) : []
  const upload = 'upload' in command ? state.uploads.get(command.upload) : undefined
  const uploads = command.kind === 'delete-bucket' && bucket !== undefined ? state.uploadsOf(bucket.id) : []
  return {
    bucketWasThere: bucket !== undefined,
    current: state.current(bucket, key),
    found,
    newest,
    tags: isTagging ? tagText(found?.tags) : undefined,
    source: sources.find(
      ({ sequence }) => (command.kind === 'copy-object' || isRename) && sequence === command.sourceSequence,
    ),
    upload: upload && contentOf(upload),
    uploads: uploads.map((one) => ({ ...contentOf(one), key: one.key, upload: one.upload })),
  }
}

/** The events of a command that was carried out, in their order. */
export function eventsOf(
  command: Command,
  was: Before,
  state: ModelState,
  outcome: Outcome | undefined,
  sequence: number,
): ModelEvent[] {
  if (outcome?.code !== 'done') return []
  switch (command.kind) {
    case 'create-bucket': {
      const { bucket, region, lockEnabled } = command
      const facts = { region, object_lock: lockEnabled }
      return was.bucketWasThere ? [] : [{ sequence, type: 'bucket.created', bucket, facts }]
    }
    case 'delete-bucket':
      return [
        ...was.uploads.map(({ bucket, key, upload, bytes: size, parts }) => {
          const facts = { upload_id: upload, parts }
          return { sequence, type: 'multipart.aborted', bucket, key, size, facts }
        }),
        { sequence, type: 'bucket.deleted', bucket: command.bucket, facts: {} },
      ]
    case 'append-object':
    case 'write-object':
      return [written(command, state, sequence, was.current === undefined ? 'object.created' : 'object.updated', {})]
    case 'copy-object':
      return [copied(command, was, state, sequence)]
    case 'rename-object':
      return renamed(command, was, state, sequence)
    case 'complete-upload': {
      if (was.upload === undefined) return []
      const ids = { upload_id: command.upload }
      const type = was.current === undefined ? 'object.created' : 'object.updated'
      const parts = command.parts.length
      return [
        written(command, state, sequence, 'multipart.completed', { ...ids, parts, tags: undefined }),
        written(command, state, sequence, type, ids),
      ]
    }
    case 'abort-upload':
    case 'reclaim-upload': {
      if (was.upload === undefined) return []
      const { bucket, bytes: size, parts } = was.upload
      const facts = { upload_id: command.upload, parts }
      return [{ sequence, type: 'multipart.aborted', bucket, key: command.key, size, facts }]
    }
    case 'set-tags':
      return tagged(command, was, sequence)
    case 'delete-object':
      return deleted(command, was, state, outcome, sequence)
    default:
      return []
  }
}

interface Place {
  readonly bucket: string
  readonly key: string
}

function nameOf({ isNull, sequence }: ModelVersion): EventVersion {
  return isNull ? 'null' : sequence
}

function contentType({ headers }: ModelVersion): string | undefined {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name === 'content-type')
  return at === -1 ? undefined : headers[at + 1]
}

/** An event about the object that is the newest of its key now. */
function written({ bucket, key }: Place, state: ModelState, sequence: number, type: string, more: object): ModelEvent {
  const [made] = state.versions(state.buckets.get(bucket), key)
  if (made === undefined) throw new Error(`${key} was written and is not there`)
  const facts = { etag: made.etag, content_type: contentType(made), tags: tagText(made.tags), ...more }
  return { sequence, type, bucket, key, version: nameOf(made), size: made.size, facts }
}

/** None where nothing was set and there was nothing to remove. */
function tagged(
  { bucket, key, tags }: Extract<Command, { kind: 'set-tags' }>,
  { found, tags: had }: Before,
  sequence: number,
): ModelEvent[] {
  const now = tagText(tags)
  if (found === undefined || (now === undefined && had === undefined)) return []
  const type = now === undefined ? 'object.untagged' : 'object.tagged'
  return [{ sequence, type, bucket, key, version: nameOf(found), size: found.size, facts: { tags: now } }]
}

function copied(
  command: Extract<Command, { kind: 'copy-object' }>,
  { current, source }: Before,
  state: ModelState,
  sequence: number,
): ModelEvent {
  const { bucket, key, sourceBucket, sourceKey } = command
  const isOwn = bucket === sourceBucket && key === sourceKey
  const plain = current === undefined ? 'object.created' : 'object.updated'
  const type = isOwn && current?.sequence !== source?.sequence ? 'object.restored' : plain
  const from = { source_bucket: sourceBucket, source_key: sourceKey, source_version_id: source && nameOf(source) }
  return written(command, state, sequence, type, from)
}

/** None for the repeat of a request that was carried out. */
function renamed(
  command: Extract<Command, { kind: 'rename-object' }>,
  { current, source }: Before,
  state: ModelState,
  sequence: number,
): ModelEvent[] {
  const { bucket, key, sourceKey } = command
  if (state.current(state.buckets.get(bucket), key)?.sequence !== sequence || source === undefined) return []
  const type = current === undefined ? 'object.created' : 'object.updated'
  const from = { source_bucket: bucket, source_key: sourceKey, source_version_id: nameOf(source) }
  const facts = { delete_marker: false, permanent: true }
  const gone = { sequence, type: 'object.deleted', bucket, key: sourceKey, size: source.size }
  return [written(command, state, sequence, type, from), { ...gone, version: 'null', facts }]
}

function deleted(
  { bucket, key, version: selector }: Extract<Command, { kind: 'delete-object' }>,
  { found, newest }: Before,
  state: ModelState,
  outcome: Outcome,
  sequence: number,
): ModelEvent[] {
  const there = state.buckets.get(bucket)
  const type = 'object.deleted'
  if (selector === undefined && outcome.marker === true) {
    const [marker] = state.versions(there, key)
    const version = marker?.isNull === true ? 'null' : sequence
    return [{ sequence, type, bucket, key, version, size: 0, facts: { delete_marker: true, permanent: false } }]
  }
  if (found === undefined) return []
  const facts = { delete_marker: found.isMarker, permanent: true }
  const gone = { sequence, type, bucket, key, version: nameOf(found), size: found.size, facts }
  const now = state.current(there, key)
  if (found !== newest || now === undefined) return [gone]
  const restored = { etag: now.etag, content_type: contentType(now), removed_version_id: nameOf(found) }
  return [
    gone,
    { sequence, type: 'object.restored', bucket, key, version: nameOf(now), size: now.size, facts: restored },
  ]
}
