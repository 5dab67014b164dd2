/**
 * Rows of links: `shares` and `embeds` by id, `share-digests` and `embed-digests` (digest of a token (32) -> id), and
 * `share-targets` and `embed-targets`, by which the links of a key are listed:
 *
 *   bucket id (8) | key in UTF-8, 00 written as 00 01 | 00 00 | id -> nothing
 */
import type { BucketId } from '../../engine/brands.ts'
import type { EmbedState, ShareState } from '../../engine/links/state.ts'
import { bucketId, bytes, integer, listOf, microseconds, optional, text } from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import { passwordRecord, pinnedVersion } from '../../engine/events/values.ts'
import { successor } from '../keys.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { type IdRows, idRows } from '../tables/row-codecs.ts'
import { rowsOfKey } from '../tables/version-keys.ts'

/** The names of its tables. */
export const sharingTables = {
  shares: 'shares',
  shareDigests: 'share-digests',
  shareTargets: 'share-targets',
  embeds: 'embeds',
  embedDigests: 'embed-digests',
  embedTargets: 'embed-targets',
  linkEnds: 'link-ends',
} as const

const linkFields = {
  bucketId: field(bucketId, 'bucket id'),
  key: field(text, 'key'),
  version: field(optional(pinnedVersion), 'version'),
  digest: field(bytes, 'digest'),
  sealedToken: field(bytes, 'sealed token'),
  createdMicroseconds: field(microseconds, 'created'),
  expiresMicroseconds: field(optional(microseconds), 'expiry'),
  revokedMicroseconds: field(optional(microseconds), 'revoked'),
}

export const shareRows: IdRows<ShareState> = idRows<'share', ShareState>(
  'share',
  record('share', {
    ...linkFields,
    fileName: field(optional(text), 'file name'),
    password: field(optional(passwordRecord), 'password'),
    maximumDownloads: field(optional(integer), 'most downloads'),
    downloads: field(integer, 'downloads'),
  }),
)

export const embedRows: IdRows<EmbedState> = idRows<'embed', EmbedState>(
  'embed',
  record('embed', {
    ...linkFields,
    allowedOrigins: field(listOf(text), 'allowed origins'),
    cacheSeconds: field(integer, 'seconds in caches'),
  }),
)

/** The row by which a link is listed with the others of its key. */
export function targetKey({ bucketId: id, key }: { bucketId: BucketId; key: string }, link: string): Buffer {
  return Buffer.concat([rowsOfKey(id, key), Buffer.from(link)])
}

/** Ids of the links of a key, at most `limit`. */
export function linksOfKey(targets: TableReader, id: BucketId, key: string, limit: number): string[] {
  const start = rowsOfKey(id, key)
  const end = successor(start)
  const keys = targets.keys({ start, limit, ...(end !== undefined && { end }) })
  return Array.from(keys, (row) => row.toString('utf8', start.length))
}
