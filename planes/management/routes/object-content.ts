import { isUtf8 } from 'node:buffer'
import type { HeaderLine } from '../../http/exchange.ts'
import { piecesOf } from '../../objects/read-object.ts'
import { bytesOf, defineRoute, EVERYONE, type Route } from '../define-route.ts'
import { ManagementError } from '../errors.ts'
import { openBytes, requireVersion, VERSION_ERRORS, VERSION_QUERY } from '../object-lookup.ts'

/** Keep a browser from treating stored bytes as a page of this origin (S20). */
const SAFE_HEADERS: readonly HeaderLine[] = [
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "sandbox; default-src 'none'"],
  ['cache-control', 'no-store'],
]

const getContent = defineRoute({
  pattern: 'GET /buckets/{bucket}/object-content/{key}',
  roles: EVERYONE,
  summary: 'The bytes of an object, as an attachment.',
  query: VERSION_QUERY,
  answer: { 200: bytesOf('application/octet-stream') },
  errors: [...VERSION_ERRORS, 'OBJECT_DAMAGED', 'CONFLICT'],
  /** Always an attachment: this listener never displays what a stranger stored (S20). */
  async handle(request, services) {
    const found = requireVersion(request, services)
    const name = encodeURIComponent(found.key.slice(found.key.lastIndexOf('/') + 1) || 'object').replaceAll("'", '%27')
    const headers: HeaderLine[] = [
      ['content-type', 'application/octet-stream'],
      ['content-disposition', `attachment; filename*=UTF-8''${name}`],
      ['etag', `"${found.object.etag}"`],
      ...SAFE_HEADERS,
    ]
    return { status: 200, headers, body: await openBytes(found, services) }
  },
})

const MEBIBYTE = 1024 ** 2
const IMAGE_BYTES_MAXIMUM = 10 * MEBIBYTE
const TEXT_BYTES_MAXIMUM = MEBIBYTE

/** Pictures that a page may show, recognized by their first bytes; names and stored types are not trusted (S20). */
const PICTURES: readonly { readonly type: string; readonly at: number; readonly magic: Buffer }[] = [
  { type: 'image/png', at: 0, magic: Buffer.from('89504e470d0a1a0a', 'hex') },
  { type: 'image/jpeg', at: 0, magic: Buffer.from('ffd8ff', 'hex') },
  { type: 'image/gif', at: 0, magic: Buffer.from('GIF8') },
  { type: 'image/webp', at: 8, magic: Buffer.from('WEBP') },
]

const getPreview = defineRoute({
  pattern: 'GET /buckets/{bucket}/object-preview/{key}',
  roles: EVERYONE,
  summary: 'The bytes of an object that a page may show.',
  query: VERSION_QUERY,
  answer: { 200: bytesOf('image/png', 'image/jpeg', 'image/gif', 'image/webp', 'text/plain; charset=utf-8') },
  errors: [...VERSION_ERRORS, 'NOT_PREVIEWABLE', 'OBJECT_DAMAGED', 'CONFLICT'],
  /** Pictures, and UTF-8 as plain text; neither can run scripts. */
  async handle(request, services) {
    const found = requireVersion(request, services)
    if (found.object.size > IMAGE_BYTES_MAXIMUM) throw new ManagementError('NOT_PREVIEWABLE')
    const pieces: Buffer[] = []
    for await (const piece of piecesOf(await openBytes(found, services))) pieces.push(Buffer.from(piece))
    const content = Buffer.concat(pieces)
    const type = typeOf(content)
    if (type === undefined) throw new ManagementError('NOT_PREVIEWABLE')
    return {
      status: 200,
      headers: [['content-type', type], ['content-disposition', 'inline'], ...SAFE_HEADERS],
      body: content,
    }
  },
})

function typeOf(bytes: Buffer): string | undefined {
  const picture = PICTURES.find(({ at, magic }) => bytes.subarray(at, at + magic.length).equals(magic))
  if (picture !== undefined) return picture.type
  const isText = bytes.length <= TEXT_BYTES_MAXIMUM && isUtf8(bytes) && !bytes.includes(0)
  return isText ? 'text/plain; charset=utf-8' : undefined
}

export const CONTENT_ROUTES: readonly Route[] = [getContent, getPreview]
