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
    const description = {
      headers: contentHeaders(http).flat(),
      metadata: userMetadata(http, target).flat(),
      condition: writeCondition(http),
      ...(lock === undefined ? {} : { lock }),
      ...(declared && { checksum: checksumOf(declared) }),
    }
    const upload = { journal: request.journal, body: http.body, length, checks }
    const { done, received } = await storeObject(services, upload, (stored) => ({
      kind: 'write-object',
      bucket: bucket.name,
      key: request.key,
      ...stored,
      ...description,
    }))
    const headers: HeaderLine[] = [['etag', `"${received.etag}"`], ...writtenVersionHeader(done.version, services)]
    if (declared !== undefined) headers.push([declared.header, declared.text])
    return { status: 200, headers }
  },
})
