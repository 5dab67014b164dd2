/**
 * The vocabulary of the journal: what an entry can do to the store. A closed union; kinds are never reused and a field
 * is never moved (spec/formats/journal.md). Each change is stored as an array that begins with its kind.
 */

export const CHANGE_KIND = {
  'bucket.created': 1,
  'bucket.deleted': 2,
  'object.written': 3,
  'object.deleted': 4,
  'journal.recovered': 5,
  'server.started': 6,
  'server.stopped': 7,
} as const
export type ChangeName = keyof typeof CHANGE_KIND

/** Name and value pairs, flat, in the order they were sent. */
export type HeaderPairs = readonly string[]

/** Where the bytes of an object are. `payload` is the sequence of the entry that stored them. */
export type PayloadReference =
  | { readonly kind: 'shared'; readonly payload: number }
  | {
      readonly kind: 'volume'
      readonly payload: number
      readonly volume: number
      readonly offset: number
      readonly length: number
      readonly checksum: number
    }
  | { readonly kind: 'file'; readonly payload: number; readonly name: string; readonly length: number }

export interface BucketCreated {
  readonly name: 'bucket.created'
  readonly bucketId: number
  readonly bucket: string
  readonly region: string
}

export interface BucketDeleted {
  readonly name: 'bucket.deleted'
  readonly bucketId: number
  readonly bucket: string
}

export interface ObjectWritten {
  readonly name: 'object.written'
  readonly bucketId: number
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  /** SHA-256 of the bytes, 32 bytes. */
  readonly digest: Uint8Array
  /** Content headers to give back (Content-Type and so on). */
  readonly headers: HeaderPairs
  /** User metadata, names without the `x-amz-meta-` prefix. */
  readonly metadata: HeaderPairs
  /** Undefined for an object of no bytes. */
  readonly payload: PayloadReference | undefined
  /** True when a current object was there. */
  readonly replaced: boolean
}

export interface ObjectDeleted {
  readonly name: 'object.deleted'
  readonly bucketId: number
  readonly key: string
}

export interface JournalRecovered {
  readonly name: 'journal.recovered'
  readonly segment: number
  readonly offset: number
  readonly length: number
  readonly digest: Uint8Array
}

export interface ServerStarted {
  readonly name: 'server.started'
  readonly version: string
  /** 16 hexadecimal digits, new at each start; names of payload files begin with it. */
  readonly start: string
}

export interface ServerStopped {
  readonly name: 'server.stopped'
}

export type Change =
  | BucketCreated
  | BucketDeleted
  | ObjectWritten
  | ObjectDeleted
  | JournalRecovered
  | ServerStarted
  | ServerStopped
