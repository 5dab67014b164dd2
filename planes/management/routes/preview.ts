import { isUtf8 } from 'node:buffer'
import type { HttpResponse } from '../../http/exchange.ts'
import { ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../management-request.ts'
import { requireVersion } from '../object-lookup.ts'
import type { ManagementServices } from '../services.ts'
import { openBytes, SAFE_HEADERS } from './objects.ts'

const MEBIBYTE = 1024 ** 2
const IMAGE_BYTES_MAXIMUM = 10 * MEBIBYTE
const TEXT_BYTES_MAXIMUM = MEBIBYTE

/** Pictures that a page may show, told by their first bytes; a name or a stored type is not believed (S20). */
const PICTURES: readonly { readonly type: string; readonly at: number; readonly magic: Buffer }[] = [
  { type: 'image/png', at: 0, magic: Buffer.from('89504e470d0a1a0a', 'hex') },
  { type: 'image/jpeg', at: 0, magic: Buffer.from('ffd8ff', 'hex') },
  { type: 'image/gif', at: 0, magic: Buffer.from('GIF8') },
  { type: 'image/webp', at: 8, magic: Buffer.from('WEBP') },
]

/**
 * The bytes of an object for the eyes: a picture as itself, UTF-8 as plain text, nothing else. Neither can run.
 * @throws ManagementError NOT_PREVIEWABLE
 */
export async function getPreview(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const found = requireVersion(request, services)
  if (found.object.size > IMAGE_BYTES_MAXIMUM) throw new ManagementError('NOT_PREVIEWABLE')
  const body = await openBytes(found, services)
  const bytes = Buffer.isBuffer(body) || body === '' ? Buffer.from(body) : await readAll(body)
  const type = typeOf(bytes)
  if (type === undefined) throw new ManagementError('NOT_PREVIEWABLE')
  return {
    status: 200,
    headers: [['content-type', type], ['content-disposition', 'inline'], ...SAFE_HEADERS],
    body: bytes,
  }
}

function typeOf(bytes: Buffer): string | undefined {
  const picture = PICTURES.find(({ at, magic }) => bytes.subarray(at, at + magic.length).equals(magic))
  if (picture !== undefined) return picture.type
  const isText = bytes.length <= TEXT_BYTES_MAXIMUM && isUtf8(bytes) && !bytes.includes(0)
  return isText ? 'text/plain; charset=utf-8' : undefined
}

async function readAll(source: Exclude<Awaited<ReturnType<typeof openBytes>>, Buffer | ''>): Promise<Buffer> {
  const pieces: Buffer[] = []
  try {
    for (;;) {
      const piece = await source.next()
      if (piece === undefined) return Buffer.concat(pieces)
      // A piece is valid only until the next one is asked for.
      pieces.push(Buffer.from(piece))
    }
  } finally {
    source.close()
  }
}
