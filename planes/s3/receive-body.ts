import { createHash, hash } from 'node:crypto'
import type { WriteBody } from '../../engine/commands.ts'
import { DiskFullError, ShortWriteError } from '../../engine/disk/disk.ts'
import type { PayloadFileWriter } from '../../engine/payloads/file-writer.ts'
import type { BodyChecks } from './body-checks.ts'
import { S3Error } from './errors.ts'
import { auditOf, type S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'

/** The bytes of an object or part, checked, and stored when they are many. */
export interface Received {
  readonly body: WriteBody
  readonly size: number
  readonly md5: string
  readonly digest: Uint8Array
}

/** @throws S3Error MissingContentLength, EntityTooLarge */
export function requireLength(request: S3Request): number {
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

/**
 * Receives the body of an upload: few bytes stay in memory, many go to a file.
 * @throws S3Error IncompleteBody, BadDigest and its like, InsufficientStorage; nothing is left behind then
 */
export function receiveBody(
  request: S3Request,
  services: S3Services,
  length: number,
  checks: BodyChecks,
): Promise<Received> {
  if (length <= services.inlineBytesMaximum) return receiveSmall(request, services, length, checks)
  return receiveLarge(request, services, length, checks)
}

/**
 * Gives back the file of a body whose command the rules refused. Only a refusal is certain: after any other failure an
 * entry may already refer to the file.
 */
export async function discardRefused(services: S3Services, received: Received, error: unknown): Promise<void> {
  if (received.body.kind === 'file' && error instanceof S3Error) await services.uploads.discard(received.body.name)
}

async function receiveSmall(
  request: S3Request,
  services: S3Services,
  length: number,
  checks: BodyChecks,
): Promise<Received> {
  const bytes = await request.http.body.readAll(length)
  if (bytes.length !== length) throw new S3Error('IncompleteBody')
  checks.update(bytes)
  const md5 = hash('md5', bytes, 'hex')
  const digest = createHash('sha256').update(bytes).digest()
  checks.finish(md5, digest)
  const body: WriteBody = length === 0 ? { kind: 'empty' } : services.uploads.inlineBody(bytes)
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
    const [received, attempted] = await Promise.allSettled([takeBody(request, writer, length, checks), attempt])
    if (attempted.status === 'fulfilled') {
      request.journaled = { kind: 'attempt', sequence: attempted.value.sequence }
    }
    const failed = [attempted, received].find((result) => result.status === 'rejected')
    if (failed !== undefined) {
      await writer.abandon()
      throw failed.reason
    }
    const { name, sealed, size, md5, digest } = await writer.finish()
    return { body: { kind: 'file', name, sealed }, size, md5, digest }
  } catch (error) {
    if (error instanceof DiskFullError || error instanceof ShortWriteError) throw new S3Error('InsufficientStorage')
    throw error
  }
}

/** Hands the body to the writer and holds it against what the request says about it. */
async function takeBody(
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
