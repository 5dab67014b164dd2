import { isUtf8 } from 'node:buffer'
import type { BodySource, HeaderLine } from '../../http/exchange.ts'
import { piecesOf } from '../../objects/read-object.ts'
import { bytesOf, defineRoute, EVERYONE, type Route } from '../routing/define-route.ts'
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
  /** Always an attachment: this listener never displays stored bytes (S20). */
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

/** Picture types that a page may show, by their first bytes; names and stored types are not trusted (S20). */
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
    const { type, body } = await previewOf(await openBytes(found, services))
    return { status: 200, headers: [['content-type', type], ['content-disposition', 'inline'], ...SAFE_HEADERS], body }
  },
})

/**
 * The preview of a body: text, which is read whole to check its encoding, or a picture, which is streamed.
 * @throws ManagementError NOT_PREVIEWABLE; the body is closed then
 */
async function previewOf(body: Buffer | BodySource): Promise<{ type: string; body: Buffer | BodySource }> {
  if (Buffer.isBuffer(body)) return wholePreview(body)
  let first: Buffer | undefined
  try {
    first = await body.next()
  } catch (error) {
    body.close()
    throw error
  }
  const type = first === undefined ? undefined : pictureType(first)
  if (first !== undefined && type !== undefined) return { type, body: withFirst(first, body) }
  if (first === undefined || (body.length ?? 0) > TEXT_BYTES_MAXIMUM) {
    body.close()
    throw new ManagementError('NOT_PREVIEWABLE')
  }
  const pieces: Buffer[] = [Buffer.from(first)]
  for await (const piece of piecesOf(body)) pieces.push(Buffer.from(piece))
  return wholePreview(Buffer.concat(pieces))
}

function wholePreview(bytes: Buffer): { type: string; body: Buffer } {
  const picture = pictureType(bytes)
  if (picture !== undefined) return { type: picture, body: bytes }
  const isText = bytes.length <= TEXT_BYTES_MAXIMUM && isUtf8(bytes) && !bytes.includes(0)
  if (!isText) throw new ManagementError('NOT_PREVIEWABLE')
  return { type: 'text/plain; charset=utf-8', body: bytes }
}

function pictureType(bytes: Buffer): string | undefined {
  return PICTURES.find(({ at, magic }) => bytes.subarray(at, at + magic.length).equals(magic))?.type
}

/** A body whose first piece was read already; that piece stays valid until the next is requested. */
function withFirst(first: Buffer, body: BodySource): BodySource {
  let next: Buffer | undefined = first
  return {
    length: body.length,
    next: () => {
      const piece = next
      next = undefined
      return piece ?? body.next()
    },
    close: () => body.close(),
  }
}

export const CONTENT_ROUTES: readonly Route[] = [getContent, getPreview]
