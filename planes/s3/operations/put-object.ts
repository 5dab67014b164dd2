import type { HeaderLine, HttpResponse, RequestBody } from '../../http/exchange.ts'
import type { BodyLength } from '../../objects/receive-payload.ts'
import { storeObject } from '../../objects/store-object.ts'
import { checksumOf } from '../request/checksums.ts'
import { CHUNK_HEADERS } from '../bodies/chunk-modes.ts'
import { uploadBody } from '../bodies/upload-body.ts'
import { writeCondition } from '../request/conditions.ts'
import { requestedTags, TAGGING } from '../request/tags.ts'
import { WRITE_OFFSET, writeOffset } from '../request/write-offset.ts'
import { LOCK_HEADERS, requestedLock } from '../request/lock-headers.ts'
import { requireBucket, requireLockable } from '../handling/lookup.ts'
import { writtenVersionHeader } from '../handling/version-headers.ts'
import { contentHeaders, userMetadata } from '../request/metadata.ts'
import { defineOperation, PUT_BYTES_MAXIMUM } from '../handling/operation.ts'
import type { LockState } from '../../../engine/events/values.ts'
import { S3Error } from '../errors/s3-errors.ts'
import type { BodyChecks } from '../bodies/body-checks.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'

/**
 * S3 API reference, PutObject. Everything in the head is checked before the body is read; nothing is visible before the
 * last byte was checked.
 */
export const putObject = defineOperation({
  name: 'PutObject',
  method: 'PUT',
  level: 'object',
  action: 's3:PutObject',
  bodyBytesMaximum: PUT_BYTES_MAXIMUM,
  headers: [...LOCK_HEADERS, ...CHUNK_HEADERS, TAGGING, WRITE_OFFSET],
  async handle(request, services) {
    const { http, target } = request
    const bucket = requireBucket(request, services)
    const upload = uploadBody(request, services)
    const { checks } = upload
    const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
    const tags = requestedTags(http, target)
    const offset = writeOffset(http, target)
    if (offset !== undefined && tags !== undefined) throw new S3Error('InvalidRequest', { message: APPENDED_TAGS })
    if (offset !== undefined) return appendObject(request, services, { offset, ...upload, lock })
    const { done, received } = await writeObject(request, services, upload, lock, tags)
    const headers: HeaderLine[] = [['etag', `"${received.etag}"`], ...writtenVersionHeader(done.version, services)]
    const { declared } = checks
    if (declared !== undefined) headers.push([declared.header, declared.text])
    return { status: 200, headers }
  },
})

/** The body of a write, as far as it is known before it is received. */
interface WrittenBody {
  readonly body: RequestBody
  readonly length: BodyLength
  readonly checks: BodyChecks
}

/**
 * Stores the body as the object that the request names, with the content headers, metadata and condition of the request.
 * @throws S3Error, and as storeObject
 */
export function writeObject(
  { http, target, journal, bucket, key }: ObjectRequest,
  services: S3Services,
  { body: incoming, length, checks }: WrittenBody,
  lock: LockState | undefined,
  tags: readonly string[] | undefined,
): ReturnType<typeof storeObject> {
  const headers = contentHeaders(http).flat()
  const metadata = userMetadata(http, target).flat()
  const condition = writeCondition(http)
  return storeObject(services, { journal, body: incoming, length, checks }, ({ size, etag, digest, body }) => {
    const kind = 'write-object'
    // Most writes have this form, as one literal: spreads are several times slower.
    const plain = { kind, bucket, key, size, etag, digest, headers, metadata, body, condition } as const
    const { declared } = checks
    if (lock === undefined && declared === undefined && tags === undefined) return plain
    const more = {
      ...(tags !== undefined && { tags }),
      ...(lock !== undefined && { lock }),
      ...(declared !== undefined && { checksum: checksumOf(declared) }),
    }
    return { ...plain, ...more }
  })
}

const APPENDED_TAGS = 'An append keeps the tags of the object; it cannot set any. PutObjectTagging does.'

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
async function appendObject(
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
