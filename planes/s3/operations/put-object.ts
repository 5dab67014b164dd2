import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { BodyChecks } from '../body-checks.ts'
import { writeCondition } from '../conditions.ts'
import { execute } from '../execute.ts'
import { requestedLock } from '../lock-headers.ts'
import { requireBucket, requireLockable, writtenVersionHeader } from '../lookup.ts'
import { contentHeaders, userMetadata } from '../metadata.ts'
import { discardRefused, receiveBody, requireLength } from '../receive-body.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/**
 * S3 API reference, PutObject. Everything that can be refused by the head of the request is refused before the body is
 * read; nothing is visible before the last byte was checked.
 */
export async function putObject(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { http, target } = request
  const bucket = requireBucket(request, services)
  const length = requireLength(request)
  const checks = new BodyChecks(http, request.identity.payload)
  const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
  const description = {
    headers: contentHeaders(http).flat(),
    metadata: userMetadata(http, target).flat(),
    condition: writeCondition(http),
    ...(lock === undefined ? {} : { lock }),
  }
  const received = await receiveBody(request, services, length, checks)
  const { size, digest, md5: etag, body } = received
  const object = { bucket: bucket.name, key: objectKey(request), size, digest, etag, body }
  try {
    const done = await execute(request, services, { kind: 'write-object', ...object, ...description })
    const headers: HeaderLine[] = [['etag', `"${etag}"`], ...writtenVersionHeader(done.version, services)]
    if (checks.declared !== undefined) headers.push([checks.declared.header, checks.declared.text])
    return { status: 200, headers }
  } catch (error) {
    await discardRefused(services, received, error)
    throw error
  }
}
