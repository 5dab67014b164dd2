import { type ReceivedPayload, receivePayload } from '../objects/receive-payload.ts'
import type { BodyChecks } from './body-checks.ts'
import { S3Error } from './errors.ts'
import { auditOf, type S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'

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
 * Receives the body of an upload, under an attempt in the journal when it is long.
 * @throws S3Error BadDigest and its like; IncompletePayloadError, StorageFullError, ClientGoneError
 */
export function receiveBody(
  request: S3Request,
  services: S3Services,
  length: number,
  checks: BodyChecks,
): Promise<ReceivedPayload> {
  return receivePayload(request.http.body, length, services, checks, async () => {
    const { sequence } = await services.engine.execute({ kind: 'record-attempt', audit: auditOf(request) })
    request.journaled = { kind: 'attempt', sequence }
  })
}

/**
 * Gives back the file of a body whose command the rules refused. Only a refusal is certain: after any other failure an
 * entry may already refer to the file.
 */
export async function discardRefused(services: S3Services, received: ReceivedPayload, error: unknown): Promise<void> {
  if (received.body.kind === 'file' && error instanceof S3Error) await services.uploads.discard(received.body.name)
}
