import { createHash } from 'node:crypto'
import type { Target } from './bench.ts'
import type { PlainRequest } from './endpoint.ts'

/** A multipart upload in progress. */
export interface Upload {
  readonly path: string
  readonly id: string
}

/** An answer of the server is not what the request asked for. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError'
}

/** @throws RefusedError, UnexpectedAnswerError */
export async function createUpload({ bucket, client }: Target, key: string): Promise<Upload> {
  const path = `/${bucket}/${key}`
  const { body } = await client.send({ method: 'POST', path, query: [['uploads', '']] })
  return { path, id: textOf(body, 'UploadId') }
}

/** @throws RefusedError */
export async function sendPart({ client }: Target, { path, id }: Upload, part: number, body: Buffer): Promise<void> {
  const query = [
    ['partNumber', String(part)],
    ['uploadId', id],
  ] as const
  await client.send({ method: 'PUT', path, query }, body)
}

export function completion({ path, id }: Upload): PlainRequest {
  return { method: 'POST', path, query: [['uploadId', id]] }
}

/** The document of a completion, of parts that all have the same MD5 (hexadecimal). */
export function completionDocument(parts: number, md5: string): Buffer {
  const listed = Array.from(
    { length: parts },
    (_, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>&quot;${md5}&quot;</ETag></Part>`,
  )
  return Buffer.from(`<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`)
}

/**
 * That the answer names the object that the parts make: its ETag is the MD5 of the parts' MD5s, and their number (S3
 * user guide, Checking object integrity).
 * @throws UnexpectedAnswerError
 */
export function requireCompleted(document: string, parts: number, md5: string): void {
  const hash = createHash('md5')
  for (let part = 0; part < parts; part += 1) hash.update(md5, 'hex')
  const expected = `${hash.digest('hex')}-${parts}`
  const etag = textOf(document, 'ETag').replaceAll(/&quot;|"/g, '')
  if (etag !== expected) throw new UnexpectedAnswerError(`the object has the ETag ${etag} and not ${expected}`)
}

/**
 * The text of the first element of this name.
 * @throws UnexpectedAnswerError
 */
export function textOf(document: string, element: string): string {
  const text = new RegExp(`<${element}>([^<]*)</${element}>`).exec(document)?.[1]
  if (text === undefined) throw new UnexpectedAnswerError(`there is no ${element} in ${document.slice(0, 300)}`)
  return text
}
