/**
 * Objects over the management plane: pages, uploads, versions, bytes and what a page may show of them.
 * Proves: API-OBJ-03, API-OBJ-05, API-OBJ-06.
 */
import tap, { test } from 'tap'
import { API } from '../../../planes/management/routing/define-route.ts'
import type { ApiAnswer } from '../../support/api-client.ts'
import { startManaged } from '../../support/management-server.ts'
import { payloadFileNames } from '../../support/multipart.ts'

const server = await startManaged({ inlineBytesMaximum: 1000 })
tap.teardown(() => server.stop())
const { api } = server
const KEYS = ['a', 'd/1', 'd/2', 'd/e/3', 'f', 'g/4']
await api.get('POST', '/buckets', { name: 'listed' })
await api.get('PUT', '/buckets/listed/versioning', { status: 'Enabled' })
for (const key of [...KEYS, 'a', 'd/1']) await put(`listed/object/${key}`, key)

function put(target: string, raw: string | Buffer, headers: [string, string][] = []): Promise<ApiAnswer> {
  return api.send('PUT', `${API}/buckets/${target}`, { raw, headers })
}

test('refused uploads leave nothing', async (t) => {
  await api.get('PUT', '/buckets/listed/quota', {
    quota: { bytes: { mode: 'limit', bytes: 100 }, objects: { mode: 'unlimited' } },
  })
  const files = payloadFileNames(server.paths)
  t.equal((await put('listed/object/large', 'x'.repeat(5000))).code, 'QUOTA_EXCEEDED')
  t.equal((await put('listed/object/a', 'x', [['if-none-match', '*']])).code, 'CONFLICT')
  t.equal((await put('listed/object/a', 'x', [['if-none-match', 'etag']])).code, 'INVALID_REQUEST')
  for (const [name, value] of [
    ['If-Match', '"x"'],
    ['If-Unmodified-Since', 'Sat, 01 Jan 2000 00:00:00 GMT'],
    ['Content-MD5', 'rL0Y20zC+Fzt72VPzMSk2A=='],
    ['Content-Encoding', 'gzip'],
    ['x-amz-meta-colour', 'blue'],
    ['x-amz-tagging', 'a=b'],
    ['x-amz-object-lock-legal-hold', 'ON'],
    ['x-amz-server-side-encryption', 'AES256'],
    ['x-amz-checksum-sha256', 'AAAA'],
  ] as const) {
    const { code, message } = await put('listed/object/a', 'x', [[name, value]])
    t.equal(code, 'INVALID_REQUEST', name)
    t.match(message, `${name.toLowerCase()}: is not supported by this upload`)
  }
  t.equal((await put('listed/object/a', 'x', [['transfer-encoding', 'chunked']])).status, 411)
  t.equal((await put('listed/object/new', 'x', [['if-none-match', '*']])).status, 201)
  t.same(payloadFileNames(server.paths), files)
})

test('an object whose key holds control characters is copied like the others', async (t) => {
  await api.get('POST', '/buckets', { name: 'odd-keys' })
  await put('odd-keys/object/a%00%0A', 'bytes')
  const source = { source_bucket: 'odd-keys', source_key: 'a\u0000\n' }
  t.match(await api.get('POST', '/buckets/odd-keys/object-copy/b%01', source), { key: 'b\u0001', size: 5 })
})

test('bytes are an attachment, and only pictures and text are shown', async (t) => {
  await api.get('POST', '/buckets', { name: 'shown' })
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20)])
  const cases: [key: string, body: Buffer, type: string | undefined][] = [
    ['p%22%0d%0a%27.png', png, 'image/png'],
    ['page.html', Buffer.from('<script>'), 'text/plain; charset=utf-8'],
    ['binary', Buffer.from([0, 1]), undefined],
    ['long.txt', Buffer.alloc(1024 ** 2 + 1, 'x'), undefined],
  ]
  const safe = { 'x-content-type-options': 'nosniff', 'content-security-policy': /^sandbox; default-src 'none'$/ }
  for (const [key, body, type] of cases) {
    await put(`shown/object/${key}`, body, [['content-type', 'text/html']])
    const { headers, body: got } = await api.call('GET', `/buckets/shown/object-content/${key}`)
    t.ok(got.equals(body), key)
    const disposition = `attachment; filename*=UTF-8''${key.replace('%0d%0a', '%0D%0A')}`
    t.match(headers, { ...safe, 'content-type': 'application/octet-stream', 'content-disposition': disposition })
    const preview = await api.call('GET', `/buckets/shown/object-preview/${key}`)
    if (type === undefined) t.match(preview, { status: 415, code: 'NOT_PREVIEWABLE' }, key)
    else t.match(preview, { status: 200, headers: { ...safe, 'content-type': type } }, key)
  }
})

test('no answer was another one than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
