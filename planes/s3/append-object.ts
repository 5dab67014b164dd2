import type { LockState } from '../../engine/events/values.ts'
import type { HeaderLine, HttpResponse, RequestBody } from '../http/exchange.ts'
import { storeObject } from '../objects/store-object.ts'
import { S3Error } from './errors.ts'
import type { BodyChecks } from './request/body-checks.ts'
import { checksumOf } from './request/checksums.ts'
import { writeCondition } from './request/conditions.ts'
import { contentHeaders, userMetadata } from './request/metadata.ts'
import type { ObjectRequest } from './s3-request.ts'
import type { S3Services } from './services.ts'
import { writtenVersionHeader } from './version-headers.ts'

/** What of the request was read before its body. */
interface Append {
  readonly offset: number
  readonly body: RequestBody
  readonly length: number
  readonly checks: BodyChecks
  readonly lock: LockState | undefined
}

/**
 * PutObject with `x-amz-write-offset-bytes`, as S3 has it for its directory buckets: the body comes after the bytes of the
 * object, which must be as many as the offset says; at 0 it is also a new object. Content headers and the ETag of an object
 * that is there: spec/decisions/0142.
 * @throws S3Error InvalidRequest for metadata of an object that must be there
 */
export async function appendObject(
  request: ObjectRequest,
  services: S3Services,
  { offset, lock, checks, body, length }: Append,
): Promise<HttpResponse> {
  const { http, target, journal, bucket, key } = request
  const metadata = userMetadata(http, target).flat()
  if (offset > 0 && metadata.length > 0) {
    throw new S3Error('InvalidRequest', { message: 'An append keeps the metadata of the object; it cannot set any.' })
  }
  const place = { kind: 'append-object', bucket, key, offset, headers: contentHeaders(http).flat(), metadata } as const
  const condition = writeCondition(http)
  journal.note('write_offset', offset)
  const { done, received } = await storeObject(services, { journal, body, length, checks }, (stored) => {
    // One that comes after the body is known only now.
    const { declared } = checks
    const more = {
      ...(lock !== undefined && { lock }),
      ...(declared !== undefined && { checksum: checksumOf(declared) }),
    }
    return { ...place, condition, ...more, ...stored }
  })
  const size: HeaderLine = ['x-amz-object-size', String(offset + received.size)]
  return { status: 200, headers: [['etag', `"${done.etag}"`], ...writtenVersionHeader(done.version, services), size] }
}
