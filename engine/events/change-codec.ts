import { CHANGE_KIND, type Change, type ChangeName, type PayloadReference } from './changes.ts'

/** A change as it is stored: its kind, then its fields in the order of spec/formats/journal.md. */
export type StoredChange = readonly [kind: number, ...fields: unknown[]]

const PAYLOAD_KIND = { shared: 0, volume: 1, file: 2 } as const

function encodePayload(payload: PayloadReference | undefined): unknown {
  if (payload === undefined) return null
  switch (payload.kind) {
    case 'shared':
      return [PAYLOAD_KIND.shared, payload.payload]
    case 'volume':
      return [PAYLOAD_KIND.volume, payload.payload, payload.volume, payload.offset, payload.length, payload.checksum]
    case 'file':
      return [PAYLOAD_KIND.file, payload.payload, payload.name, payload.length]
  }
}

function decodePayload(stored: unknown): PayloadReference | undefined {
  if (stored === null) return undefined
  const fields = stored as [kind: number, payload: number, ...rest: unknown[]]
  const payload = fields[1]
  switch (fields[0]) {
    case PAYLOAD_KIND.shared:
      return { kind: 'shared', payload }
    case PAYLOAD_KIND.volume: {
      const [, , volume, offset, length, checksum] = fields as number[]
      return {
        kind: 'volume',
        payload,
        volume: volume as number,
        offset: offset as number,
        length: length as number,
        checksum: checksum as number,
      }
    }
    case PAYLOAD_KIND.file:
      return { kind: 'file', payload, name: fields[2] as string, length: fields[3] as number }
    default:
      throw new Error(`unknown payload kind ${fields[0]}`)
  }
}

interface ChangeCodec<C extends Change> {
  readonly fields: (change: C) => unknown[]
  readonly change: (fields: readonly never[]) => C
}

/** One row per change; a change without a row does not compile. */
const CODECS: { readonly [N in ChangeName]: ChangeCodec<Extract<Change, { name: N }>> } = {
  'bucket.created': {
    fields: (change) => [change.bucketId, change.bucket, change.region],
    change: ([bucketId, bucket, region]) => ({
      name: 'bucket.created',
      bucketId: bucketId as never,
      bucket: bucket as never,
      region: region as never,
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
  'object.written': {
    fields: (change) => [
      change.bucketId,
      change.key,
      change.size,
      change.etag,
      change.digest,
      change.headers,
      change.metadata,
      encodePayload(change.payload),
      change.replaced,
    ],
    change: ([bucketId, key, size, etag, digest, headers, metadata, payload, replaced]) => ({
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
    }),
  },
  'object.deleted': {
    fields: (change) => [change.bucketId, change.key],
    change: ([bucketId, key]) => ({ name: 'object.deleted', bucketId: bucketId as never, key: key as never }),
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
