/** Tags that requests ask for, in a header or a document. */

import {
  BUCKET_TAG_BYTES_MAXIMUM,
  BUCKET_TAGS_MAXIMUM,
  OBJECT_TAG_BYTES_MAXIMUM,
  OBJECT_TAGS_MAXIMUM,
} from '../../../engine/domain/tags.ts'
import { isTagKey, isTagValue, TAG_KEY_LENGTH_MAXIMUM } from '../../../engine/domain/names.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { decodeUri } from '../text/uri-encoding.ts'
import { effectiveHeader } from './effective-headers.ts'
import type { Target } from './target.ts'

export const TAGGING = 'x-amz-tagging'
export const TAGGING_DIRECTIVE = 'x-amz-tagging-directive'

/** Actions on the tags of objects; the second where a request names a version. */
export const GET_TAGS = 's3:GetObjectTagging'
export const GET_VERSION_TAGS = 's3:GetObjectVersionTagging'
export const PUT_TAGS = 's3:PutObjectTagging'

type Tag = readonly [key: string, value: string]

const BOUNDS = {
  object: {
    most: OBJECT_TAGS_MAXIMUM,
    bytes: OBJECT_TAG_BYTES_MAXIMUM,
    tooMany: `Object tags cannot be greater than ${OBJECT_TAGS_MAXIMUM}`,
  },
  bucket: {
    most: BUCKET_TAGS_MAXIMUM,
    bytes: BUCKET_TAG_BYTES_MAXIMUM,
    tooMany: `Bucket tag count cannot be greater than ${BUCKET_TAGS_MAXIMUM}`,
  },
} as const

/**
 * The tags as the engine takes them: key, value, key, value.
 * @throws S3Error BadRequest (too many), InvalidTag (a key or value that no tag has, a key twice, a key of AWS, too many bytes)
 */
export function checkedTags(tags: readonly Tag[], of: keyof typeof BOUNDS): string[] {
  const { most, bytes: bytesMaximum, tooMany } = BOUNDS[of]
  if (tags.length > most) throw new S3Error('BadRequest', { message: tooMany })
  const keys = new Set<string>()
  let bytes = 0
  for (const [key, value] of tags) {
    if (!isTagKey(key)) throw invalidTag(key, 'The TagKey you have provided is invalid')
    if (key.toLowerCase().startsWith('aws:')) {
      throw invalidTag(key, 'System tags cannot be added/updated by requester: keys that begin with aws: are of AWS.')
    }
    if (!isTagValue(value)) throw invalidTag(key, 'The TagValue you have provided is invalid')
    if (keys.has(key)) throw invalidTag(key, 'Cannot provide multiple Tags with the same key')
    keys.add(key)
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (bytes <= bytesMaximum) return tags.flat()
  throw new S3Error('InvalidTag', {
    message: `The tags of a${of === 'object' ? 'n object' : ' bucket'} have at most ${bytesMaximum} bytes of UTF-8 on this server.`,
  })
}

function invalidTag(key: string, message: string): S3Error {
  return new S3Error('InvalidTag', { message, details: [['TagKey', key.slice(0, TAG_KEY_LENGTH_MAXIMUM)]] })
}

/**
 * The tags in the header of a write (PutObject, CopyObject, CreateMultipartUpload), in the form of a query; undefined
 * without the header.
 * @throws S3Error InvalidArgument (not of that form, a key twice), and as checkedTags
 */
export function requestedTags(request: HttpRequest, target: Target): string[] | undefined {
  const text = effectiveHeader(request, target, TAGGING)
  if (text === undefined) return undefined
  if (text === '') return []
  const tags = text.split('&').map((pair) => tagOf(pair))
  const isSound = tags.every((tag): tag is Tag => tag !== undefined)
  if (!isSound || new Set(tags.map(([key]) => key)).size < tags.length) throw notEncoded(text)
  return checkedTags(tags, 'object')
}

/** A key without `=` has an empty value. Undefined where the escapes are not UTF-8. */
function tagOf(pair: string): Tag | undefined {
  const at = pair.indexOf('=')
  const key = decoded(at === -1 ? pair : pair.slice(0, at))
  const value = at === -1 ? '' : decoded(pair.slice(at + 1))
  return key === undefined || value === undefined ? undefined : [key, value]
}

/** As forms are encoded, where a plus is a space. */
function decoded(text: string): string | undefined {
  return decodeUri(text.replaceAll('+', ' '))
}

/** Of the header in the error. */
const SHOWN_LENGTH = 256

function notEncoded(text: string): S3Error {
  const message = `The header '${TAGGING}' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.`
  return invalidArgument(TAGGING, text.slice(0, SHOWN_LENGTH), message)
}

/**
 * The tags that a copy asks for: undefined with the directive COPY, which keeps the tags of the source.
 * @throws S3Error InvalidArgument (another directive, tags with COPY), and as requestedTags
 */
export function tagReplacement(request: HttpRequest, target: Target): string[] | undefined {
  const directive = effectiveHeader(request, target, TAGGING_DIRECTIVE)
  const tags = requestedTags(request, target)
  switch (directive?.toUpperCase()) {
    case 'REPLACE':
      return tags ?? []
    case undefined:
    case 'COPY':
      // S3 ignores the header then. To ignore it is a silent promise.
      if (tags === undefined) return undefined
      throw invalidArgument(TAGGING, '', `Tags of a copy need ${TAGGING_DIRECTIVE}: REPLACE.`)
    default:
      throw invalidArgument(TAGGING_DIRECTIVE, directive ?? '', 'Unknown tagging directive: it is COPY or REPLACE.')
  }
}
