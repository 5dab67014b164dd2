/**
 * What a server answers that has no room: on its disk, in its line, in a body.
 * Proves: DO-ACC-04, ERR-OTH-06, ERR-OTH-07, LIM-VAL-17, LIM-VAL-19.
 */
import type { Block } from './block.ts'
import { ADMINISTRATOR, type Talk } from './talk.ts'
import { gaugeValue } from './quiet.ts'
import { makeBucket } from './s3/helpers.ts'

const LARGE = 70_000
const MEBIBYTE = 1024 ** 2

/** More is kept free than there is: whatever needs new space is refused, and everything else goes on. */
async function noSpace(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  for (const size of [0, 1, LARGE]) {
    const body = Buffer.alloc(size, 'x')
    await talk.s3('PUT', `/${bucket}/key-${size}`, { body })
    await talk.api('PUT', `/buckets/${bucket}/object/key-${size}`, { body })
  }
  const begun = await talk.s3('POST', `/${bucket}/up?uploads`)
  for (const size of [1, LARGE]) {
    const target = `/${bucket}/up?partNumber=1&uploadId=${begun.element('UploadId')}`
    await talk.s3('PUT', target, { body: Buffer.alloc(size, 'x') })
  }
  await talk.s3('PUT', `/${bucket}/copy`, { headers: [`x-amz-copy-source: ${bucket}/key-0`] })
  await talk.s3('DELETE', `/${bucket}/key-0`)
  await talk.s3('GET', `/${bucket}?list-type=2`)
  await talk.api('GET', '/ready')
  await talk.api('GET', '/system/info')
}

/** Longer than the bodies that take no place before they are whole. */
const LARGER = 70_000

/** One operation at a time: while one is under way every other is refused, at once or after a second. */
async function busy(talk: Talk): Promise<void> {
  const { bucket } = talk
  const { apiPort, s3Port } = talk.server
  await makeBucket(talk)
  const target = talk.presigned('PUT', `/${bucket}/slow`)
  const begun = `PUT ${target} HTTP/1.1\r\nhost: 127.0.0.1:${s3Port}\r\ncontent-length: ${LARGER}\r\n\r\nbegun`
  const release = await talk.hold('s3', begun)
  await gaugeValue(apiPort, 'object_store_operations_active', 1)
  await talk.s3('GET', `/${bucket}/slow`)
  await talk.s3('PUT', `/${bucket}/other`, { body: 'b' })
  await talk.s3('HEAD', `/${bucket}`)
  await talk.s3('GET', `/${bucket}/slow`, { as: null })
  await talk.s3('GET', `/${bucket}?acl`)
  await talk.api('GET', '/auth/session')
  await release('ended'.padStart(LARGER - 5))
  await gaugeValue(apiPort, 'object_store_operations_active', 0)
  await talk.s3('GET', `/${bucket}/slow`)
}

async function busyManagement(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  const path = `/api/v1/buckets/${bucket}/object/slow`
  const lines = `host: 127.0.0.1:${talk.server.apiPort}\r\nauthorization: ${ADMINISTRATOR.authorization}`
  const release = await talk.hold('api', `PUT ${path} HTTP/1.1\r\n${lines}\r\ncontent-length: ${LARGER}\r\n\r\nbegun`)
  // Being let in says nothing about those who wait.
  for (let tries = 0; tries < 500; tries += 1) if ((await talk.quietly('/api/v1/auth/session')) === 503) break
  await talk.api('GET', '/auth/session')
  await talk.api('PUT', `/buckets/${bucket}/object/other`, { body: 'b' })
  await talk.api('GET', '/auth/session', { as: null })
  await talk.api('GET', '/none')
  await talk.api('GET', '/health')
  await talk.s3('GET', `/${bucket}/slow`)
  await release('ended'.padStart(LARGER - 5))
}

/** Documents over what each operation takes. */
async function largeDocuments(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk, bucket, true)
  await talk.s3('PUT', `/${bucket}/key`, { body: 'b' })
  const begun = await talk.s3('POST', `/${bucket}/up?uploads`)
  const documents = [
    ['PUT', `/${bucket}-new`, 70_000],
    ['PUT', `/${bucket}?versioning`, MEBIBYTE + 1],
    ['PUT', `/${bucket}?cors`, MEBIBYTE + 1],
    ['PUT', `/${bucket}?object-lock`, MEBIBYTE + 1],
    ['PUT', `/${bucket}/key?retention`, MEBIBYTE + 1],
    ['PUT', `/${bucket}/key?legal-hold`, MEBIBYTE + 1],
    ['POST', `/${bucket}/up?uploadId=${begun.element('UploadId')}`, 4 * MEBIBYTE + 1],
  ] as const
  for (const [method, target, tooLarge] of documents) {
    for (const size of [60_000, tooLarge]) {
      await talk.s3(method, target, { body: `<a>${' '.repeat(size)}</a>`, payload: 'UNSIGNED-PAYLOAD', fresh: true })
    }
  }
  // Nobody reads these bodies; a longer one could come after the answer, and then the connection is closed.
  for (const [method, target] of [
    ['POST', `/${bucket}/key?uploads`],
    ['DELETE', `/${bucket}?cors`],
  ] as const) {
    await talk.s3(method, target, { body: ' '.repeat(1000) })
  }
}

const ONE_AT_A_TIME = {
  OBJECT_STORE_LIMITS_MAXIMUM_CONCURRENT_OPERATIONS: '1',
  OBJECT_STORE_LIMITS_MAXIMUM_QUEUED_OPERATIONS: '0',
  OBJECT_STORE_LIMITS_QUEUE_WAIT_SECONDS: '1',
  OBJECT_STORE_SERVER_STALL_TIMEOUT_SECONDS: '60',
}

export const LIMIT_BLOCKS: readonly Block[] = [
  { name: 's3-large-documents', run: largeDocuments },
  { name: 'no-space', alone: true, settings: { OBJECT_STORE_STORAGE_RESERVED_MIB: '1048576' }, run: noSpace },
  { name: 'busy', alone: true, settings: ONE_AT_A_TIME, run: busy },
  { name: 'busy-management', alone: true, settings: ONE_AT_A_TIME, run: busyManagement },
]
