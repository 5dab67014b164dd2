import type { LockState } from '../../../engine/events/values.ts'
import type { HeaderLine, HttpResponse, RequestBody } from '../../http/exchange.ts'
import { storeObject } from '../../objects/store-object.ts'
import { S3Error } from '../errors/s3-errors.ts'
import type { BodyChecks } from '../bodies/body-checks.ts'
import { checksumOf } from '../request/checksums.ts'
import { writeCondition } from '../request/conditions.ts'
import { contentHeaders, userMetadata } from '../request/metadata.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'
import { writtenVersionHeader } from '../handling/version-headers.ts'

/** An append, as far as it is known before its body. */
interface Append {
  readonly offset: number
  readonly body: RequestBody
  readonly length: number
  readonly checks: BodyChecks
  readonly lock: LockState | undefined
}

/**
 * PutObject with `x-amz-write-offset-bytes`, as in S3's directory buckets: appends the body to an object whose size
 * must equal the offset. At offset 0 the object may be new. For content headers and ETag of an existing object see
 * spec/decisions/0142.
 * @throws S3Error InvalidRequest for metadata with an offset above 0
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
    // Read here: a trailing checksum is known only after the body.
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
