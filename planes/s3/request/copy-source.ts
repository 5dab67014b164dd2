/** The x-amz-copy-source header: `bucket/key` or `/bucket/key`, percent-encoded, optionally with `?versionId=`. */

import { invalidArgument, type S3Error } from '../errors/s3-errors.ts'
import { checkKeyLength } from './target.ts'
import { decodeUri } from '../text/uri-encoding.ts'

export interface CopySource {
  readonly bucket: string
  readonly key: string
  /** Decoded, not empty, otherwise as sent. */
  readonly versionId: string | undefined
}

const VERSION_MARK = '?versionId='

/**
 * Parses the header. It is decoded exactly once, then split, since some clients encode the slash after the bucket
 * too; a question mark that belongs to the key comes as `%3F`. As on S3, `+` is a space and `%2B` a plus: Go's
 * url.QueryEscape writes so, and other clients escape the plus because of it.
 * @throws S3Error InvalidArgument, KeyTooLongError
 */
export function parseCopySource(header: string): CopySource {
  const mark = header.lastIndexOf(VERSION_MARK)
  const source = decodeUri((mark === -1 ? header : header.slice(0, mark)).replaceAll('+', ' '))
  const versionId = mark === -1 ? undefined : decodeUri(header.slice(mark + VERSION_MARK.length))
  if (source === undefined) throw malformed(header)
  if (mark !== -1 && (versionId === undefined || versionId === '')) throw malformed(header)

  const path = source.startsWith('/') ? source.slice(1) : source
  const slash = path.indexOf('/')
  const bucket = path.slice(0, slash)
  const key = path.slice(slash + 1)
  if (slash === -1 || bucket === '' || key === '') throw malformed(header)
  checkKeyLength(key)
  return { bucket, key, versionId }
}

function malformed(header: string): S3Error {
  const message = 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey'
  return invalidArgument('x-amz-copy-source', header, message)
}
