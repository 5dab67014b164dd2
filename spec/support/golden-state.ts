/** What a store must hold after the life of golden journal 2, told by the model and told by a catalog. */
import type { CatalogReader } from '../../projections/catalog-reader.ts'
import type { ModelPayload, ModelState } from './model-state.ts'

const EVERYTHING = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 10_000 }

/** A value as JSON keeps it: bytes in hexadecimal, nothing undefined, no times of creation, of which no model knows. */
export function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (name, one: unknown) => {
    if (name === 'createdMicroseconds') return undefined
    if (one instanceof Uint8Array) return Buffer.from(one).toString('hex')
    // A buffer has become what its own toJSON gives before it comes here.
    const isBuffer = typeof one === 'object' && one !== null && 'type' in one && one.type === 'Buffer' && 'data' in one
    return isBuffer ? Buffer.from(one.data as number[]).toString('hex') : one
  })
  return JSON.parse(text) as unknown
}

/** Buckets with their versions newest first, uploads with their parts, payloads with their references. */
export function goldenOfModel(model: ModelState): unknown {
  const buckets = [...model.buckets].toSorted(([left], [right]) => (left < right ? -1 : 1))
  const payloads = [...model.references].toSorted(([left], [right]) => left.id - right.id)
  const uploads = [...model.uploads.values()].toSorted((left, right) => left.upload - right.upload)
  return plain({
    buckets: buckets.map(([name, bucket]) => {
      const { id, region, versioning, lockEnabled, defaultRetention, quota, cors } = bucket
      const versions = model.keys(bucket).flatMap((key) =>
        model.versions(bucket, key).map(({ sequence, isNull, isMarker, size, etag, headers, payload, lock }) => {
          return { key, sequence, isNull, isMarker, size, etag, headers, payload: payload?.id ?? 0, lock }
        }),
      )
      const settings = { id, name, region, versioning, lockEnabled, defaultRetention, quota, cors }
      return { ...settings, usage: model.usage(bucket), versions }
    }),
    uploads: uploads.map(({ upload, bucketId, key, headers, lock, parts }) => ({
      upload,
      bucketId,
      key,
      headers,
      lock,
      parts: [...parts]
        .toSorted(([left], [right]) => left - right)
        .map(([part, { size, etag, payload }]) => ({ part, size, md5: etag, payload: payload?.id ?? 0 })),
    })),
    payloads: payloads.map(([payload, references]) => ({ ...payloadOfModel(payload), references })),
  })
}

function payloadOfModel({ id, kind, parts, isDigested, completion }: ModelPayload): object {
  if (kind !== 'parts') return { id, kind }
  return { id, kind, isDigested, completion, parts: parts.map((part) => part?.id ?? 0) }
}

/** The same of a store. */
export function goldenOfCatalog(catalog: CatalogReader): unknown {
  return plain({
    buckets: catalog.buckets().map((settings) => ({
      ...settings,
      cors: catalog.cors(settings.id),
      usage: catalog.bucketUsage(settings.id),
      versions: catalog.listVersions(settings.id, EVERYTHING).entries.map(({ key, sequence, isNull, isMarker }) => {
        const version = catalog.version(settings.id, key, isNull ? 'null' : sequence)
        const { size, etag, headers, payload, lock } = version ?? {}
        return { key, sequence, isNull, isMarker, size, etag: isMarker ? undefined : etag, headers, payload, lock }
      }),
    })),
    uploads: catalog
      .uploadsInProgress(undefined, 1000)
      .toSorted((left, right) => left.upload - right.upload)
      .map(({ upload, bucketId, key }) => {
        const { headers, lock } = catalog.upload(bucketId, key, upload) ?? {}
        const parts = catalog
          .parts(upload, 0, 10_000)
          .map(({ part, size, md5, payload }) => ({ part, size, md5, payload }))
        return { upload, bucketId, key, headers, lock, parts }
      }),
    payloads: catalog.storedPayloads(0, 10_000).map(({ payload: id, references, location }) => {
      const { kind } = location
      if (kind !== 'parts') return { id, kind, references }
      const { digest, completion, parts } = location
      const ids = Array.from({ length: parts.count }, (_, index) => parts.payload(index))
      return { id, kind, isDigested: digest !== undefined, completion, parts: ids, references }
    }),
  })
}
