import { createHash, hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { WriteBody } from '../../../engine/commands.ts'
import { DiskFullError, ShortWriteError } from '../../../engine/disk/disk.ts'
import type { PayloadFileWriter } from '../../../engine/payloads/file-writer.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { BodyChecks } from '../body-checks.ts'
import { writeCondition } from '../conditions.ts'
import { S3Error } from '../errors.ts'
import { execute } from '../execute.ts'
import { requireBucket } from '../lookup.ts'
import { contentHeaders, userMetadata } from '../metadata.ts'
import { auditOf, bucketName, objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/**
 * S3 API reference, PutObject. Everything that can be refused by the head of the request is refused before the body is
 * read; nothing is visible before the last byte was checked.
 */
export async function putObject(request: S3Request, services: S3Services): Promise<HttpResponse> {
  requireBucket(request, services)
  const length = requireLength(request)
  const checks = new BodyChecks(request.http, request.identity.payload)
  const description = {
    headers: contentHeaders(request.http).flat(),
    metadata: userMetadata(request.http, request.target).flat(),
    condition: writeCondition(request.http),
  }
  const stored =
    length <= services.inlineBytesMaximum
      ? await receiveSmall(request, length, checks)
      : await receiveLarge(request, services, length, checks)
  await publish(request, services, stored, description)
  const headers: HeaderLine[] = [['etag', `"${stored.md5}"`]]
  if (checks.declared !== undefined) headers.push([checks.declared.header, checks.declared.text])
  return { status: 200, headers }
}

interface Received {
  readonly body: WriteBody
  readonly size: number
  readonly md5: string
  readonly digest: Uint8Array
}

/** @throws S3Error MissingContentLength, EntityTooLarge */
function requireLength(request: S3Request): number {
  const length = request.http.contentLength
  if (length === undefined) throw new S3Error('MissingContentLength')
  const { bodyBytesMaximum } = request.operation
  if (length > bodyBytesMaximum) {
    const details = [
      ['ProposedSize', String(length)],
      ['MaxSizeAllowed', String(bodyBytesMaximum)],
    ] as const
    throw new S3Error('EntityTooLarge', { details })
  }
  return length
}

async function receiveSmall(request: S3Request, length: number, checks: BodyChecks): Promise<Received> {
  const bytes = await request.http.body.readAll(length)
  if (bytes.length !== length) throw new S3Error('IncompleteBody')
  checks.update(bytes)
  const md5 = hash('md5', bytes, 'hex')
  const digest = createHash('sha256').update(bytes).digest()
  checks.finish(md5, digest)
  const body: WriteBody = length === 0 ? { kind: 'empty' } : { kind: 'inline', bytes, checksum: crc32(bytes) }
  return { body, size: length, md5, digest }
}

/**
 * The attempt of a long upload is in the journal before the upload is finished, let alone published. The body is taken
 * at once, beside it: what arrives before anybody takes it would have to wait in memory.
 */
async function receiveLarge(
  request: S3Request,
  services: S3Services,
  length: number,
  checks: BodyChecks,
): Promise<Received> {
  if (!services.space.admits(length)) throw new S3Error('InsufficientStorage')
  try {
    const writer = services.uploads.create()
    const attempt = services.engine.execute({ kind: 'record-attempt', audit: auditOf(request) })
    const [received, attempted] = await Promise.allSettled([receiveBody(request, writer, length, checks), attempt])
    if (attempted.status === 'fulfilled') {
      request.journaled = { kind: 'attempt', sequence: attempted.value.sequence }
    }
    const failed = [attempted, received].find((result) => result.status === 'rejected')
    if (failed !== undefined) {
      await writer.abandon()
      throw failed.reason
    }
    const file = await writer.finish()
    return { body: { kind: 'file', name: file.name }, size: file.size, md5: file.md5, digest: file.digest }
  } catch (error) {
    if (error instanceof DiskFullError || error instanceof ShortWriteError) throw new S3Error('InsufficientStorage')
    throw error
  }
}

/** Hands the body to the writer and holds it against what the request says about it. */
async function receiveBody(
  request: S3Request,
  writer: PayloadFileWriter,
  length: number,
  checks: BodyChecks,
): Promise<void> {
  await request.http.body.pipe(
    (chunk) => {
      checks.update(chunk)
      return writer.write(chunk)
    },
    (chunk) => {
      checks.update(chunk)
      writer.writeNow(chunk)
    },
  )
  if (writer.size !== length) throw new S3Error('IncompleteBody')
  const digests = writer.digests()
  checks.finish(digests.md5, digests.sha256)
}

async function publish(
  request: S3Request,
  services: S3Services,
  received: Received,
  description: Pick<Parameters<typeof execute>[2] & { kind: 'write-object' }, 'headers' | 'metadata' | 'condition'>,
): Promise<void> {
  const { size, digest, md5, body } = received
  const object = { bucket: bucketName(request), key: objectKey(request), size, digest, etag: md5, body }
  try {
    await execute(request, services, { kind: 'write-object', ...object, ...description })
  } catch (error) {
    // Only a refusal is certain: after any other failure an entry may already refer to the file.
    if (body.kind === 'file' && error instanceof S3Error) await services.uploads.discard(body.name)
    throw error
  }
}
