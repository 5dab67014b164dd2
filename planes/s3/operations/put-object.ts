import type { HeaderLine } from '../../http/exchange.ts'
import { storeObject } from '../../objects/store-object.ts'
import { checksumOf } from '../request/checksums.ts'
import { BodyChecks, requireLength } from '../request/body-checks.ts'
import { writeCondition } from '../request/conditions.ts'
import { LOCK_HEADERS, requestedLock } from '../request/lock-headers.ts'
import { requireBucket, requireLockable } from '../lookup.ts'
import { writtenVersionHeader } from '../version-headers.ts'
import { contentHeaders, userMetadata } from '../request/metadata.ts'
import { defineOperation, PUT_BYTES_MAXIMUM } from '../operation.ts'

/**
 * S3 API reference, PutObject. Everything that can be refused by the head of the request is refused before the body is
 * read; nothing is visible before the last byte was checked.
 */
export const putObject = defineOperation({
  name: 'PutObject',
  method: 'PUT',
  level: 'object',
  action: 's3:PutObject',
  bodyBytesMaximum: PUT_BYTES_MAXIMUM,
  headers: LOCK_HEADERS,
  async handle(request, services) {
    const { http, target } = request
    const bucket = requireBucket(request, services)
    const length = requireLength(request)
    const checks = new BodyChecks(http, request.payload)
    const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
    const { declared } = checks
    const headersToStore = contentHeaders(http).flat()
    const metadata = userMetadata(http, target).flat()
    const condition = writeCondition(http)
    const more = {
      ...(lock !== undefined && { lock }),
      ...(declared !== undefined && { checksum: checksumOf(declared) }),
    }
    const isPlain = lock === undefined && declared === undefined
    const upload = { journal: request.journal, body: http.body, length, checks }
    const { done, received } = await storeObject(services, upload, ({ size, etag, digest, body }) => {
      const { key } = request
      const headers = headersToStore
      const kind = 'write-object'
      // Most writes, as objects of one form: the platform is several times slower at putting spreads together.
      const plain = { kind, bucket: bucket.name, key, size, etag, digest, headers, metadata, body, condition } as const
      return isPlain ? plain : { ...plain, ...more }
    })
    const headers: HeaderLine[] = [['etag', `"${received.etag}"`], ...writtenVersionHeader(done.version, services)]
    if (declared !== undefined) headers.push([declared.header, declared.text])
    return { status: 200, headers }
  },
})
