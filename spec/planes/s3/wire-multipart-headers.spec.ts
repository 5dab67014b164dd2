/** What multipart uploads are told in headers: what the object is, checksums and sizes, forms that are refused. */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import {
  abort,
  complete,
  completionOf,
  createUpload,
  largePart,
  PART_BYTES,
  partTarget,
  sendPart,
  settledFiles,
  uploadTarget,
  uploadWhole,
} from '../../support/multipart.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { blocks, elements } from '../../support/wire-client.ts'
import { openRaw } from '../raw-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, store } = server
const bucket = '/headers-bucket'

await raw('PUT', bucket)

const zeros = (bytes: number) => Buffer.alloc(bytes).toString('base64')
const digestOf = (algorithm: string, body: Buffer | string) => createHash(algorithm).update(body).digest('base64')

test('what is said of the object at the beginning is said of it in the end', async (t) => {
  const target = `${bucket}/described`
  const described: HeaderLine[] = [
    ['content-type', 'video/x-odd; a="b"'],
    ['cache-control', 'max-age=1'],
    ['content-disposition', 'attachment'],
    ['content-language', 'de'],
    ['content-encoding', 'gzip'],
    ['expires', 'Thu, 01 Jan 2099 00:00:00 GMT'],
    ['x-amz-meta-one', 'uno ü.'],
    ['x-amz-meta-two', ''],
    ['x-amz-acl', 'private'],
    ['x-amz-storage-class', 'STANDARD'],
    ['x-amz-checksum-algorithm', 'CRC32'],
    ['x-amz-checksum-type', 'COMPOSITE'],
  ]
  const upload = await createUpload(server, target, described)
  const part = await raw('PUT', partTarget(target, upload, 1), {
    body: 'bytes',
    headers: [
      ['content-type', 'text/of-the-part'],
      ['x-amz-meta-three', 'of the part'],
    ],
  })
  const listed = [{ number: 1, etag: String(part.headers.etag) }]
  isDone(t, await complete(server, target, upload, listed, [['content-type', 'application/xml']]), 200, 'complete')
  for (const method of ['GET', 'HEAD']) {
    const { headers } = await raw(method, target)
    for (const [name, value] of described.slice(0, 8)) {
      t.equal(Buffer.from(String(headers[name]), 'latin1').toString(), value, `${method}: ${name}`)
    }
    t.equal(headers['x-amz-meta-three'], undefined)
  }
  const plain = await uploadWhole(server, `${bucket}/plain`, ['x'])
  t.equal(plain.status, 200)
  t.equal((await raw('HEAD', `${bucket}/plain`)).headers['content-type'], 'binary/octet-stream')
})

test('a beginning that is refused begins nothing', async (t) => {
  const refusals: [headers: HeaderLine[], code: S3ErrorCode][] = [
    [[['x-amz-meta-much', 'x'.repeat(3000)]], 'MetadataTooLarge'],
    [[['x-amz-acl', 'public-read']], 'NotImplemented'],
    [[['x-amz-tagging', 'a=b']], 'NotImplemented'],
    [[['x-amz-storage-class', 'GLACIER']], 'NotImplemented'],
    [[['x-amz-server-side-encryption', 'AES256']], 'NotImplemented'],
    [[['x-amz-website-redirect-location', '/x']], 'NotImplemented'],
    [[['x-amz-object-lock-legal-hold', 'ON']], 'InvalidRequest'],
    [[['x-amz-object-lock-mode', 'GOVERNANCE']], 'InvalidArgument'],
  ]
  for (const [headers, code] of refusals) {
    isError(t, await raw('POST', `${bucket}/refused?uploads`, { headers }), code, JSON.stringify(headers).slice(0, 60))
  }
  isError(t, await raw('POST', `${bucket}/${'k'.repeat(1025)}?uploads`), 'KeyTooLongError', 'a long key')
  isError(t, await raw('POST', `${bucket}/refused?uploads`, { sign: false }), 'AccessDenied', 'a stranger')
  isError(t, await raw('POST', `${bucket}/refused?uploads&uploadId=x`), 'InvalidArgument', 'two operations at once')
  t.equal(blocks((await raw('GET', `${bucket}?uploads`)).text, 'Upload').length, 0)
})

test('parts are held against what is said about them', async (t) => {
  const target = `${bucket}/checked`
  const upload = await createUpload(server, target)
  const { length: files } = await settledFiles(server)
  for (const body of [Buffer.from('a small part'), largePart(1)]) {
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(crc32(body))
    const right: HeaderLine[] = [
      ['content-md5', digestOf('md5', body)],
      ['x-amz-checksum-crc32', crc.toString('base64')],
      ['x-amz-checksum-sha1', digestOf('sha1', body)],
      ['x-amz-checksum-sha256', digestOf('sha256', body)],
    ]
    for (const [name, value] of right) {
      const answer = await raw('PUT', partTarget(target, upload, 1), { body, headers: [[name, value]] })
      isDone(t, answer, 200, `${name}, ${body.length} bytes`)
      if (name !== 'content-md5') t.equal(answer.headers[name], value, 'echoed')
    }
    const kept = elements((await raw('GET', uploadTarget(target, upload))).text, 'ETag')
    const wrong: [header: HeaderLine, code: S3ErrorCode][] = [
      [['content-md5', zeros(16)], 'BadDigest'],
      [['content-md5', 'x'], 'InvalidDigest'],
      [['x-amz-checksum-crc32', zeros(4)], 'BadDigest'],
      [['x-amz-checksum-crc32c', zeros(4)], 'BadDigest'],
      [['x-amz-checksum-crc64nvme', zeros(8)], 'BadDigest'],
      [['x-amz-checksum-sha1', zeros(20)], 'BadDigest'],
      [['x-amz-checksum-sha256', zeros(32)], 'BadDigest'],
      [['x-amz-checksum-sha256', zeros(31)], 'InvalidRequest'],
    ]
    for (const [header, code] of wrong) {
      const other = Buffer.concat([body, Buffer.from('!')])
      const answer = await raw('PUT', partTarget(target, upload, 1), { body: other, headers: [header] })
      isError(t, answer, code, `a wrong ${header[0]}, ${body.length} bytes`)
    }
    const hashed = await raw('PUT', partTarget(target, upload, 1), { body, sign: { payloadHash: '0'.repeat(64) } })
    isError(t, hashed, 'XAmzContentSHA256Mismatch', 'another hash')
    t.same(elements((await raw('GET', uploadTarget(target, upload))).text, 'ETag'), kept, 'the part is what it was')
    t.equal((await settledFiles(server)).length, files + (body.length > 100_000 ? 1 : 0), 'and nothing is left behind')
  }
  isDone(t, await abort(server, target, upload), 204, 'abort')
})

test('parts in forms that are not supported', async (t) => {
  const target = `${bucket}/forms`
  const upload = await createUpload(server, target)
  const part = partTarget(target, upload, 1)
  await raw('PUT', `${bucket}/source`, { body: 'x' })
  const headers: HeaderLine[][] = [
    [['x-amz-copy-source', `${bucket}/source`]],
    [
      ['x-amz-copy-source', `${bucket}/source`],
      ['x-amz-copy-source-range', 'bytes=0-0'],
    ],
    [['content-encoding', 'aws-chunked']],
    [['x-amz-trailer', 'x-amz-checksum-crc32']],
    [['x-amz-server-side-encryption-customer-algorithm', 'AES256']],
  ]
  for (const lines of headers) {
    isError(t, await raw('PUT', part, { headers: lines, body: '' }), 'NotImplemented', lines.map(String).join(' '))
  }
  const streamed = { payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }
  isError(t, await raw('PUT', part, { body: 'x', sign: streamed }), 'NotImplemented', 'signed chunks')
  const unsigned = { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }
  isError(t, await raw('PUT', part, { body: largePart(1), sign: unsigned }), 'NotImplemented', 'unsigned chunks')
  const tooLong: HeaderLine[] = [['content-length', String(5 * 1024 ** 3 + 1)]]
  const reader = openRaw(server.port)
  const lines = [...server.wire.headersOf('PUT', part, { sign: { payloadHash: 'UNSIGNED-PAYLOAD' } }), ...tooLong]
  reader.send(`PUT ${part} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  t.match(await reader.until(/<\/Error>/), '<Code>EntityTooLarge</Code>')
  reader.socket.destroy()
  t.equal(elements((await raw('GET', uploadTarget(target, upload))).text, 'Part').length, 0)
  isDone(
    t,
    await raw(
      'PUT',
      server.wire.presigned('PUT', target, {
        query: [
          ['partNumber', '1'],
          ['uploadId', upload],
        ],
      }),
      { body: 'by link', sign: false },
    ),
    200,
    'a presigned part',
  )
  isDone(t, await abort(server, target, upload), 204, 'abort')
})

test('a part that does not come to its end leaves the one before', async (t) => {
  const target = `${bucket}/cut`
  const upload = await createUpload(server, target)
  await sendPart(server, target, upload, 1, 'whole')
  const { length: files } = await settledFiles(server)
  const kept = elements((await raw('GET', uploadTarget(target, upload))).text, 'ETag')
  for (const length of [1000, PART_BYTES]) {
    const writer = openRaw(server.port)
    const part = partTarget(target, upload, 1)
    const lines = server.wire.headersOf('PUT', part, { sign: { payloadHash: 'UNSIGNED-PAYLOAD' } })
    writer.send(
      `PUT ${part} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}content-length: ${length}\r\n\r\n`,
    )
    await writer.push(largePart(1).subarray(0, length - 1))
    writer.socket.destroy()
    await writer.closed
  }
  while (server.gate.active > 0) await new Promise((resolve) => setImmediate(resolve))
  t.same(elements((await raw('GET', uploadTarget(target, upload))).text, 'ETag'), kept)
  t.equal((await settledFiles(server)).length, files)
  isDone(t, await abort(server, target, upload), 204, 'abort')
})

test('what a completion says of the whole object', async (t) => {
  const target = `${bucket}/claimed`
  const upload = await createUpload(server, target)
  const parts = [
    await sendPart(server, target, upload, 1, largePart(1)),
    await sendPart(server, target, upload, 2, 'end'),
  ]
  const claim = (...header: HeaderLine) => complete(server, target, upload, parts, [header])
  for (const size of ['0', '3', String(PART_BYTES + 2), '99999999999999999999']) {
    isError(t, await claim('x-amz-mp-object-size', size), 'InvalidRequest', `a size of ${size}`)
  }
  for (const size of ['-1', 'x', '', '1.0', '0x3']) {
    isError(t, await claim('x-amz-mp-object-size', size), 'InvalidArgument', `a size of ${size}`)
  }
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crc32(completionOf(parts)))
  for (const value of [crc.toString('base64'), 'AAAAAA==']) {
    const answer = await claim('x-amz-checksum-crc32', value)
    isError(t, answer, 'NotImplemented', "a checksum here is the object's and not that of the list")
  }
  isDone(t, await claim('x-amz-mp-object-size', String(PART_BYTES + 3)), 200, 'the right size')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  t.same(store.catalog.uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
})
