/** Multipart uploads over the wire, request by request. */
import { createHash, hash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import { sampleBytes } from './sample-bytes.ts'
import type { InThreadServer, TestServer } from './test-server.ts'
import { firstElement, type WireAnswer } from './wire-client.ts'

/** The least that a part may have that is not the last one (S3 API reference, multipart upload limits). */
export const PART_BYTES = 5 * 1024 ** 2

/** A part as a client knows it. `etag` is as the server gave it, quotes included. */
export interface SentPart {
  readonly number: number
  readonly etag: string
}

/** Begins an upload and gives its id. `target` is the path of the object as it goes into the request line. */
export async function createUpload(
  server: TestServer,
  target: string,
  headers: readonly HeaderLine[] = [],
): Promise<string> {
  const answer = await server.raw('POST', `${target}?uploads`, { headers })
  const id = firstElement(answer.text, 'UploadId')
  if (answer.status !== 200 || id === undefined) throw new Error(`${target}: ${answer.status} ${answer.text}`)
  return id
}

export function partTarget(target: string, upload: string, number: number | string): string {
  return `${target}?partNumber=${number}&uploadId=${encodeURIComponent(upload)}`
}

export function uploadTarget(target: string, upload: string): string {
  return `${target}?uploadId=${encodeURIComponent(upload)}`
}

/** Sends a part that must be accepted. */
export async function sendPart(
  server: TestServer,
  target: string,
  upload: string,
  number: number,
  body: Buffer | string,
): Promise<SentPart> {
  const answer = await server.raw('PUT', partTarget(target, upload, number), { body })
  if (answer.status !== 200) throw new Error(`part ${number} of ${target}: ${answer.status} ${answer.text}`)
  return { number, etag: String(answer.headers.etag) }
}

/** The document of a completion, as most SDKs write it. */
export function completionOf(parts: readonly SentPart[]): string {
  const listed = parts.map(
    ({ number, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', '&quot;')}</ETag></Part>`,
  )
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${listed.join('')}</CompleteMultipartUpload>`
}

export function complete(
  server: TestServer,
  target: string,
  upload: string,
  parts: readonly SentPart[],
  headers: readonly HeaderLine[] = [],
): Promise<WireAnswer> {
  return server.raw('POST', uploadTarget(target, upload), { body: completionOf(parts), headers })
}

export function abort(server: TestServer, target: string, upload: string): Promise<WireAnswer> {
  return server.raw('DELETE', uploadTarget(target, upload))
}

/** A whole upload: every body is a part, from number 1 on. Gives the answer of its completion. */
export async function uploadWhole(
  server: TestServer,
  target: string,
  bodies: readonly (Buffer | string)[],
  headers: readonly HeaderLine[] = [],
): Promise<WireAnswer> {
  const upload = await createUpload(server, target, headers)
  const parts: SentPart[] = []
  for (const [index, body] of bodies.entries()) parts.push(await sendPart(server, target, upload, index + 1, body))
  const answer = await complete(server, target, upload, parts)
  if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${answer.text}`)
  return answer
}

/** The ETag that an object of these parts has, quotes included (S3 user guide, Checking object integrity). */
export function etagOf(bodies: readonly (Buffer | string)[]): string {
  const known = new Map([...new Set(bodies)].map((body) => [body, createHash('md5').update(body).digest()]))
  return etagOfDigests(bodies.map((body) => known.get(body) ?? Buffer.alloc(0)))
}

/** The same from the ETags of the parts. */
export function etagOfParts(parts: readonly SentPart[]): string {
  return etagOfDigests(parts.map(({ etag }) => Buffer.from(etag.replaceAll('"', ''), 'hex')))
}

function etagOfDigests(digests: readonly Buffer[]): string {
  return `"${hash('md5', Buffer.concat(digests), 'hex')}-${digests.length}"`
}

const LARGE_PART = sampleBytes(PART_BYTES + 1024)

/** Bytes of the least size a part may have, others for each seed, at little cost. */
export function largePart(seed: number, extra = 0): Buffer {
  const part = Buffer.from(LARGE_PART.subarray(0, PART_BYTES + extra))
  part.writeUInt32BE(seed, 0)
  part.writeUInt32BE(seed, part.length - 4)
  return part
}

/** The names of the payload files that are on the disk. */
export function payloadFileNames(paths: StorePaths): string[] {
  if (!existsSync(paths.files)) return []
  return readdirSync(paths.files)
    .flatMap((directory) => readdirSync(`${paths.files}/${directory}`))
    .toSorted()
}

const LOOKS_MAXIMUM = 500
const LOOK_MILLISECONDS = 10

/**
 * Waits until no payload file is on the disk that the catalog does not know: they are removed beside the answers. Gives
 * the names of those that are there.
 */
export async function settledFiles({ paths, store }: InThreadServer): Promise<string[]> {
  for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
    const names = payloadFileNames(paths)
    if (names.every((name) => store.catalog.snapshot().payloadFileIsUsed(name))) return names
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_MILLISECONDS)
    })
  }
  throw new Error('payload files without an object stay on the disk')
}
