/**
 * Continuation tokens: where a listing goes on, in a form that only this server can have made for this bucket.
 *
 * | offset | size | meaning |
 * |---|---|---|
 * | 0 | 1 | kind of position: 1 behind a key, 2 behind everything that begins with a common prefix |
 * | 1 | 16 | HMAC-SHA256 over domain, bucket id, kind and position, first 16 bytes |
 * | 17 | rest | the position: raw bytes of the key or prefix |
 *
 * The whole is base64url without padding.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { S3Error } from './errors.ts'
import { KEY_BYTES_MAXIMUM } from '../objects/names.ts'

const DOMAIN = 'object-store/continuation-token/v1'
const MAC_OFFSET = 1
const MAC_BYTES = 16
const POSITION_OFFSET = MAC_OFFSET + MAC_BYTES
const TOKEN_LENGTH_MAXIMUM = Math.ceil(((POSITION_OFFSET + KEY_BYTES_MAXIMUM) * 4) / 3)

const KINDS = { 'after-key': 1, 'after-prefix': 2 } as const

export interface ListPosition {
  readonly kind: keyof typeof KINDS
  /** Raw bytes of the last key, or of the last common prefix, that was answered. */
  readonly bytes: Buffer
}

/** The scope of ListBuckets, which lists no bucket's keys. No bucket has this id. */
export const SERVICE_SCOPE = -1

/**
 * @param key secret of this deployment, at least 32 bytes, the same after a restart
 * @param bucketId number of the bucket, or SERVICE_SCOPE
 */
export function encodeContinuationToken(key: Buffer, bucketId: number, position: ListPosition): string {
  const kind = Buffer.of(KINDS[position.kind])
  const mac = authenticate(key, bucketId, kind, position.bytes)
  return Buffer.concat([kind, mac, position.bytes]).toString('base64url')
}

/** @throws S3Error InvalidArgument when the token was not made by encodeContinuationToken with this key and bucket */
export function decodeContinuationToken(key: Buffer, bucketId: number, token: string): ListPosition {
  if (token.length > TOKEN_LENGTH_MAXIMUM) throw foreignToken()
  const bytes = Buffer.from(token, 'base64url')
  // The platform's decoder skips what is no base64url, so that many texts would be the same token.
  if (bytes.length <= POSITION_OFFSET || bytes.toString('base64url') !== token) throw foreignToken()
  const position = bytes.subarray(POSITION_OFFSET)
  const mac = authenticate(key, bucketId, bytes.subarray(0, MAC_OFFSET), position)
  if (!timingSafeEqual(mac, bytes.subarray(MAC_OFFSET, POSITION_OFFSET))) throw foreignToken()
  return { kind: bytes[0] === KINDS['after-prefix'] ? 'after-prefix' : 'after-key', bytes: position }
}

function authenticate(key: Buffer, bucketId: number, kind: Buffer, position: Buffer): Buffer {
  const hmac = createHmac('sha256', key).update(`${DOMAIN}\n${bucketId}\n`).update(kind).update(position)
  return hmac.digest().subarray(0, MAC_BYTES)
}

function foreignToken(): S3Error {
  const message = 'The continuation token provided is incorrect'
  return new S3Error('InvalidArgument', { message, details: [['ArgumentName', 'continuation-token']] })
}
