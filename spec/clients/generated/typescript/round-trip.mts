/** What a client from openapi-typescript and openapi-fetch does: creates, uploads, lists by pages, queries, is refused. */
import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

type ErrorCode = components['schemas']['ErrorCode']

const { OBJECT_STORE_URL: baseUrl = '', OBJECT_STORE_TOKEN: token = '' } = process.env
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
const bucket = 'made-by-typescript'
const keys = ['a b/ä+&?.bin', 'plain']
const bytes = new Uint8Array([0, 1, 2, 255])

const { data: created, error: refused } = await client.POST('/api/v1/buckets', { body: { name: bucket } })
assert.equal(created?.name, bucket, refused?.error.message)

for (const key of keys) {
  const { data: stored } = await client.PUT('/api/v1/buckets/{bucket}/object/{key}', {
    params: { path: { bucket, key } },
    // The document says binary, which is a string to this generator.
    body: bytes as unknown as string,
    bodySerializer: (body) => body as unknown as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': 'application/octet-stream' },
  })
  assert.equal(stored?.key, key)
}

const listed: string[] = []
for (let after: string | undefined, isLast = false; !isLast; ) {
  const query = { limit: 1, ...(after === undefined ? {} : { after }) }
  const { data: page } = await client.GET('/api/v1/buckets/{bucket}/objects', { params: { path: { bucket }, query } })
  assert.ok(page)
  listed.push(...page.objects.map(({ key, size }) => `${key} ${size}`))
  after = page.next_after ?? undefined
  isLast = after === undefined
}
assert.deepEqual(
  listed,
  keys.map((key) => `${key} ${bytes.length}`),
)

const { data: content } = await client.GET('/api/v1/buckets/{bucket}/object-content/{key}', {
  params: { path: { bucket, key: 'a b/ä+&?.bin' } },
  parseAs: 'arrayBuffer',
})
assert.deepEqual(new Uint8Array(content ?? new ArrayBuffer()), bytes)

const { data: audit } = await client.GET('/api/v1/audit/events', { params: { query: { bucket, order: 'desc' } } })
assert.ok(audit?.events.some(({ operation, result }) => operation.startsWith('PUT ') && result === 'success'))

const { error } = await client.GET('/api/v1/buckets/{bucket}', { params: { path: { bucket: 'no-such-bucket' } } })
const code: ErrorCode | undefined = error?.error.code
assert.equal(code, 'BUCKET_NOT_FOUND')
