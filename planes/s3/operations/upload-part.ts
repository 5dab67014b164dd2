import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { BodyChecks } from '../body-checks.ts'
import { execute } from '../execute.ts'
import { partNumberParameter } from '../part-number.ts'
import { discardRefused, receiveBody, requireLength } from '../receive-body.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { requireUpload } from '../uploads.ts'

/** S3 API reference, UploadPart. */
export async function uploadPart(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const part = partNumberParameter(request.target.query)
  const { bucket, upload } = requireUpload(request, services)
  const length = requireLength(request)
  const checks = new BodyChecks(request.http, request.identity.payload)
  const received = await receiveBody(request, services, length, checks)
  const { size, digest, md5: etag, body } = received
  const place = { bucket: bucket.name, key: objectKey(request), upload: upload.upload, part }
  try {
    const details = ['part', part]
    await execute(request, services, { kind: 'write-part', ...place, size, etag, digest, body }, details)
  } catch (error) {
    await discardRefused(services, received, error)
    throw error
  }
  const headers: HeaderLine[] = [['etag', `"${etag}"`]]
  if (checks.declared !== undefined) headers.push([checks.declared.header, checks.declared.text])
  return { status: 200, headers }
}
