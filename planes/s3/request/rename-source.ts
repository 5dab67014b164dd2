/** The headers of a rename: x-amz-rename-source, which is a key or `/bucket/key`, percent-encoded, and x-amz-client-token. */

import { isClientToken } from '../../../engine/domain/names.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { decodeUri } from '../text/uri-encoding.ts'
import { effectiveHeader } from './effective-headers.ts'
import { checkKeyLength, type Target } from './target.ts'

const HEADER = 'x-amz-rename-source'

/**
 * The source key of a rename.
 * @throws S3Error as parseRenameSource, InvalidArgument also without the header
 */
export function renameSource(request: HttpRequest, target: Target, bucket: string): string {
  return parseRenameSource(effectiveHeader(request, target, HEADER) ?? '', bucket)
}

/**
 * The key that the header names. The API reference has `/bucket/key` and `bucket/key`; clients send the key alone. A
 * key that starts with the bucket's name and `/` is ambiguous and refused: the wrong object could be renamed.
 * @param bucket the bucket of the request
 * @throws S3Error InvalidArgument (malformed or ambiguous), InvalidRequest (another bucket), KeyTooLongError
 */
export function parseRenameSource(header: string, bucket: string): string {
  const source = decodeUri(header)
  if (source === undefined || source === '') throw malformed(header, 'It must be a key, or /bucket/key.')
  const key = source.startsWith('/') ? keyOfPath(source, header, bucket) : source
  if (key === source && key.startsWith(`${bucket}/`)) {
    throw malformed(header, 'It may be a key, or a bucket and a key: write /bucket/key.')
  }
  checkKeyLength(key)
  return key
}

function keyOfPath(path: string, header: string, bucket: string): string {
  const slash = path.indexOf('/', 1)
  const key = path.slice(slash + 1)
  if (slash <= 1 || key === '') throw malformed(header, 'It must be a key, or /bucket/key.')
  if (path.slice(1, slash) !== bucket) {
    throw new S3Error('InvalidRequest', { message: 'An object is renamed within its bucket; copy it to another one.' })
  }
  return key
}

function malformed(header: string, why: string): S3Error {
  return invalidArgument(HEADER, header, `The source of the rename is not valid. ${why}`)
}

/**
 * The token that identifies repeats of a rename, if the client sent one.
 * @throws S3Error InvalidArgument
 */
export function clientToken(request: HttpRequest, target: Target): string | undefined {
  const name = 'x-amz-client-token'
  const token = effectiveHeader(request, target, name)
  if (token === undefined || isClientToken(token)) return token
  throw invalidArgument(name, token, 'A client token has 1 to 64 printable characters of ASCII, without spaces.')
}
