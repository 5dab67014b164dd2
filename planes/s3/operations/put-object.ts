import type { HeaderLine } from '../../http/exchange.ts'
import { storeObject } from '../../objects/store-object.ts'
import { checksumOf } from '../request/checksums.ts'
import { CHUNK_HEADERS } from '../bodies/chunk-modes.ts'
import { uploadBody } from '../bodies/upload-body.ts'
import { writeCondition } from '../request/conditions.ts'
import { WRITE_OFFSET, writeOffset } from '../request/write-offset.ts'
import { appendObject } from './append-object.ts'
import { LOCK_HEADERS, requestedLock } from '../request/lock-headers.ts'
import { requireBucket, requireLockable } from '../handling/lookup.ts'
import { writtenVersionHeader } from '../handling/version-headers.ts'
import { contentHeaders, userMetadata } from '../request/metadata.ts'
import { defineOperation, PUT_BYTES_MAXIMUM } from '../handling/operation.ts'

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
  headers: [...LOCK_HEADERS, ...CHUNK_HEADERS, WRITE_OFFSET],
  async handle(request, services) {
    const { http, target } = request
    const bucket = requireBucket(request, services)
    const { checks, ...incoming } = uploadBody(request, services)
    const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
    const offset = writeOffset(http, target)
    if (offset !== undefined) return appendObject(request, services, { offset, checks, ...incoming, lock })
    const headersToStore = contentHeaders(http).flat()
    const metadata = userMetadata(http, target).flat()
    const condition = writeCondition(http)
    const upload = { journal: request.journal, checks, ...incoming }
    const { done, received } = await storeObject(services, upload, ({ size, etag, digest, body }) => {
      const { key } = request
      const headers = headersToStore
      const kind = 'write-object'
      // Most writes have this form, as one literal: spreads are several times slower.
      const plain = { kind, bucket: bucket.name, key, size, etag, digest, headers, metadata, body, condition } as const
      const { declared } = checks
      if (lock === undefined && declared === undefined) return plain
      const more = {
        ...(lock !== undefined && { lock }),
        ...(declared !== undefined && { checksum: checksumOf(declared) }),
      }
      return { ...plain, ...more }
    })
    const headers: HeaderLine[] = [['etag', `"${received.etag}"`], ...writtenVersionHeader(done.version, services)]
    const { declared } = checks
    if (declared !== undefined) headers.push([declared.header, declared.text])
    return { status: 200, headers }
  },
})
