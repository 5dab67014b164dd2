/** UploadPartCopy over the wire. */
import type { HeaderLine } from '../../planes/http/exchange.ts'
import { partTarget, type SentPart } from './multipart.ts'
import type { TestServer } from './test-clients.ts'
import { firstElement } from './wire-client.ts'

export function copyOf(
  at: TestServer,
  target: string,
  upload: string,
  number: number | string,
  source: string,
  more: readonly HeaderLine[] = [],
) {
  return at.raw('PUT', partTarget(target, upload, number), { headers: [['x-amz-copy-source', source], ...more] })
}

export function range(first: number, last: number): HeaderLine {
  return ['x-amz-copy-source-range', `bytes=${first}-${last}`]
}

/** The part that an answer says it made. */
export function partOf(number: number, text: string): SentPart {
  return { number, etag: (firstElement(text, 'ETag') ?? '').replaceAll('&quot;', '"') }
}
