/**
 * Continuation tokens: the position at which a listing continues, authenticated for this server and bucket.
 *
 * | offset | size | meaning |
 * |---|---|---|
 * | 0 | 1 | kind of position: 1 after a key, 2 after everything under a common prefix |
 * | 1 | 16 | HMAC-SHA256 over domain, bucket id, kind and position, first 16 bytes |
 * | 17 | rest | the position: raw bytes of the key or prefix |
 *
 * The whole is base64url without padding.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { BucketId } from '../../../engine/brands.ts'
import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import type { ListPosition } from '../../../projections/catalog/object-listing.ts'
import { S3Error } from '../errors/s3-errors.ts'

const DOMAIN = 'object-store/continuation-token/v1'
const MAC_OFFSET = 1
const MAC_BYTES = 16
const POSITION_OFFSET = MAC_OFFSET + MAC_BYTES
const TOKEN_LENGTH_MAXIMUM = Math.ceil(((POSITION_OFFSET + KEY_BYTES_MAXIMUM) * 4) / 3)

const KINDS: Readonly<Record<ListPosition['kind'], number>> = { 'after-key': 1, 'after-prefix': 2 }

/** Goes into the MAC for a listing of no bucket's keys. No bucket has this id. */
const NO_BUCKET = -1

/**
 * @param key secret of this deployment, at least 32 bytes, the same after a restart
 * @param bucketId undefined for ListBuckets, which lists no bucket's keys
 */
export function encodeContinuationToken(key: Buffer, bucketId: BucketId | undefined, position: ListPosition): string {
  const kind = Buffer.of(KINDS[position.kind])
  const mac = authenticate(key, bucketId, kind, position.bytes)
  return Buffer.concat([kind, mac, position.bytes]).toString('base64url')
}

/** @throws S3Error InvalidArgument when the token was not made by encodeContinuationToken with this key and bucket */
export function decodeContinuationToken(key: Buffer, bucketId: BucketId | undefined, token: string): ListPosition {
  if (token.length > TOKEN_LENGTH_MAXIMUM) throw foreignToken()
  const bytes = Buffer.from(token, 'base64url')
  // Node's decoder skips characters that are not base64url, so several texts would be the same token.
  if (bytes.length <= POSITION_OFFSET || bytes.toString('base64url') !== token) throw foreignToken()
  const position = bytes.subarray(POSITION_OFFSET)
  const mac = authenticate(key, bucketId, bytes.subarray(0, MAC_OFFSET), position)
  if (!timingSafeEqual(mac, bytes.subarray(MAC_OFFSET, POSITION_OFFSET))) throw foreignToken()
  return { kind: bytes[0] === KINDS['after-prefix'] ? 'after-prefix' : 'after-key', bytes: position }
}

function authenticate(key: Buffer, bucketId: BucketId | undefined, kind: Buffer, position: Buffer): Buffer {
  const hmac = createHmac('sha256', key)
    .update(`${DOMAIN}\n${bucketId ?? NO_BUCKET}\n`)
    .update(kind)
    .update(position)
  return hmac.digest().subarray(0, MAC_BYTES)
}

function foreignToken(): S3Error {
  const message = 'The continuation token provided is incorrect'
  return new S3Error('InvalidArgument', { message, details: [['ArgumentName', 'continuation-token']] })
}
