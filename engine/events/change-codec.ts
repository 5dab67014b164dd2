import { ACCESS_CODECS } from './access-codec.ts'
import { CHANGE_KIND, type Change, type ChangeName } from './changes.ts'
import {
  decodeCorsRules,
  decodeDefaultRetention,
  decodeLock,
  decodePayload,
  decodePlace,
  encodeCorsRules,
  encodeDefaultRetention,
  encodeLock,
  encodePayload,
  encodePlace,
  optional,
} from './value-codec.ts'

/** A change as it is stored: its kind, then its fields in the order of spec/formats/journal.md. */
export type StoredChange = readonly [kind: number, ...fields: unknown[]]

/** How a change is stored and read. */
export interface ChangeCodec<C extends Change> {
  readonly fields: (change: C) => unknown[]
  readonly change: (fields: readonly never[]) => C
}

/** One row per change; a change without a row does not compile. */
const CODECS: { readonly [N in ChangeName]: ChangeCodec<Extract<Change, { name: N }>> } = {
  ...ACCESS_CODECS,
  'bucket.created': {
    fields: ({ bucketId, bucket, region, lockEnabled }) =>
      lockEnabled ? [bucketId, bucket, region, true] : [bucketId, bucket, region],
    change: ([bucketId, bucket, region, lockEnabled]) => ({
      name: 'bucket.created',
      bucketId: bucketId as never,
      bucket: bucket as never,
      region: region as never,
      lockEnabled: lockEnabled === true,
    }),
  },
  'bucket.deleted': {
    fields: (change) => [change.bucketId, change.bucket],
    change: ([bucketId, bucket]) => ({
      name: 'bucket.deleted',
      bucketId: bucketId as never,
      bucket: bucket as never,
    }),
  },
  'bucket.versioning-set': {
    fields: ({ bucketId, bucket, versioning }) => [bucketId, bucket, versioning === 'enabled'],
    change: ([bucketId, bucket, enabled]) => ({
      name: 'bucket.versioning-set',
      bucketId: bucketId as never,
      bucket: bucket as never,
      versioning: enabled ? 'enabled' : 'suspended',
    }),
  },
  'bucket.retention-set': {
    fields: ({ bucketId, bucket, retention }) => [
      bucketId,
      bucket,
      retention === undefined ? null : encodeDefaultRetention(retention),
    ],
    change: ([bucketId, bucket, retention]) => ({
      name: 'bucket.retention-set',
      bucketId: bucketId as never,
      bucket: bucket as never,
      retention: optional(retention as never, decodeDefaultRetention),
    }),
  },
  'bucket.cors-set': {
    fields: ({ bucketId, bucket, rules }) => [bucketId, bucket, encodeCorsRules(rules)],
    change: ([bucketId, bucket, rules]) => ({
      name: 'bucket.cors-set',
      bucketId: bucketId as never,
      bucket: bucket as never,
      rules: decodeCorsRules(rules as never),
    }),
  },
  'bucket.quota-set': {
    fields: ({ bucketId, bucket, quota }) => [bucketId, bucket, quota.bytes ?? null, quota.objects ?? null],
    change: ([bucketId, bucket, bytes, objects]) => ({
      name: 'bucket.quota-set',
      bucketId: bucketId as never,
      bucket: bucket as never,
      quota: { bytes: bytes ?? undefined, objects: objects ?? undefined },
    }),
  },
  'object.written': {
    fields: (change) => {
      const { bucketId, key, size, etag, digest, headers, metadata, payload, replaced, version, lock } = change
      const fields = [bucketId, key, size, etag, digest, headers, metadata, encodePayload(payload), replaced]
      if (lock !== undefined) return [...fields, version === undefined ? null : encodePlace(version), encodeLock(lock)]
      return version === undefined ? fields : [...fields, encodePlace(version)]
    },
    change: ([bucketId, key, size, etag, digest, headers, metadata, payload, replaced, version, lock]) => ({
      name: 'object.written',
      bucketId: bucketId as never,
      key: key as never,
      size: size as never,
      etag: etag as never,
      digest: digest as never,
      headers: headers as never,
      metadata: metadata as never,
      payload: decodePayload(payload),
      replaced: replaced as never,
      version: optional(version as never, decodePlace),
      lock: optional(lock as never, decodeLock),
    }),
  },
  'object.deleted': {
    fields: (change) => [change.bucketId, change.key],
    change: ([bucketId, key]) => ({ name: 'object.deleted', bucketId: bucketId as never, key: key as never }),
  },
  'marker.written': {
    fields: ({ bucketId, key, version }) => [bucketId, key, encodePlace(version)],
    change: ([bucketId, key, version]) => ({
      name: 'marker.written',
      bucketId: bucketId as never,
      key: key as never,
      version: decodePlace(version as never),
    }),
  },
  'version.deleted': {
    fields: ({ bucketId, key, version, promotes }) => [bucketId, key, version, promotes],
    change: ([bucketId, key, version, promotes]) => ({
      name: 'version.deleted',
      bucketId: bucketId as never,
      key: key as never,
      version: version as never,
      promotes: promotes as never,
    }),
  },
  'version.locked': {
    fields: ({ bucketId, key, version, lock }) => [bucketId, key, version, encodeLock(lock)],
    change: ([bucketId, key, version, lock]) => ({
      name: 'version.locked',
      bucketId: bucketId as never,
      key: key as never,
      version: version as never,
      lock: decodeLock(lock as never),
    }),
  },
  'upload.created': {
    fields: ({ bucketId, key, headers, metadata, lock }) => [
      bucketId,
      key,
      headers,
      metadata,
      lock === undefined ? null : encodeLock(lock),
    ],
    change: ([bucketId, key, headers, metadata, lock]) => ({
      name: 'upload.created',
      bucketId: bucketId as never,
      key: key as never,
      headers: headers as never,
      metadata: metadata as never,
      lock: optional(lock as never, decodeLock),
    }),
  },
  'upload.part-written': {
    fields: ({ bucketId, key, upload, part, size, etag, digest, payload, replaced }) => [
      bucketId,
      key,
      upload,
      part,
      size,
      etag,
      digest,
      encodePayload(payload),
      replaced,
    ],
    change: ([bucketId, key, upload, part, size, etag, digest, payload, replaced]) => ({
      name: 'upload.part-written',
      bucketId: bucketId as never,
      key: key as never,
      upload: upload as never,
      part: part as never,
      size: size as never,
      etag: etag as never,
      digest: digest as never,
      payload: decodePayload(payload),
      replaced: replaced as never,
    }),
  },
  'upload.completed': {
    fields: ({ bucketId, key, upload, listed, dropped }) => [bucketId, key, upload, listed, dropped],
    change: ([bucketId, key, upload, listed, dropped]) => ({
      name: 'upload.completed',
      bucketId: bucketId as never,
      key: key as never,
      upload: upload as never,
      listed: listed as never,
      dropped: dropped as never,
    }),
  },
  'upload.aborted': {
    fields: ({ bucketId, key, upload, dropped }) => [bucketId, key, upload, dropped],
    change: ([bucketId, key, upload, dropped]) => ({
      name: 'upload.aborted',
      bucketId: bucketId as never,
      key: key as never,
      upload: upload as never,
      dropped: dropped as never,
    }),
  },
  'payload.moved': {
    fields: ({ payload, volume, offset }) => [payload, volume, offset],
    change: ([payload, volume, offset]) => ({
      name: 'payload.moved',
      payload: payload as never,
      volume: volume as never,
      offset: offset as never,
    }),
  },
  'volume.removed': {
    fields: ({ volume }) => [volume],
    change: ([volume]) => ({ name: 'volume.removed', volume: volume as never }),
  },
  'payload.digested': {
    fields: ({ payload, digest }) => [payload, digest],
    change: ([payload, digest]) => ({
      name: 'payload.digested',
      payload: payload as never,
      digest: digest as never,
    }),
  },
  'clock.observed': {
    fields: () => [],
    change: () => ({ name: 'clock.observed' }),
  },
  'journal.recovered': {
    fields: (change) => [change.segment, change.offset, change.length, change.digest],
    change: ([segment, offset, length, digest]) => ({
      name: 'journal.recovered',
      segment: segment as never,
      offset: offset as never,
      length: length as never,
      digest: digest as never,
    }),
  },
  'server.started': {
    fields: (change) => [change.version, change.start],
    change: ([version, start]) => ({ name: 'server.started', version: version as never, start: start as never }),
  },
  'server.stopped': {
    fields: () => [],
    change: () => ({ name: 'server.stopped' }),
  },
}

const NAMES_BY_KIND = new Map<number, ChangeName>(
  (Object.entries(CHANGE_KIND) as [ChangeName, number][]).map(([name, kind]) => [kind, name]),
)

/** The stored form of a change. */
export function encodeChange(change: Change): StoredChange {
  const codec = CODECS[change.name] as ChangeCodec<Change>
  return [CHANGE_KIND[change.name], ...codec.fields(change)]
}

/**
 * The change that was stored.
 * @throws Error for a kind this program does not know: a newer store must not be half understood
 */
export function decodeChange(stored: StoredChange): Change {
  const name = NAMES_BY_KIND.get(stored[0])
  if (name === undefined) throw new Error(`unknown change kind ${stored[0]}`)
  const codec = CODECS[name] as unknown as { change: (fields: readonly unknown[]) => Change }
  return codec.change(stored.slice(1))
}
