/**
 * Bodies in chunks where the extension is off, and unsigned ones over plain HTTP: refused, and the setting named.
 * Proves: DO-NOT-09.
 */
import { test } from 'tap'
import type { HttpRequest } from '../../../../planes/http/exchange.ts'
import { uploadBody } from '../../../../planes/s3/bodies/upload-body.ts'
import type { S3Request } from '../../../../planes/s3/handling/s3-request.ts'
import type { S3Services } from '../../../../planes/s3/handling/services.ts'
import { refusalCode, wireRequest } from '../wire-request.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { CHUNK_FORMS } from '../../../support/chunked-requests.ts'
import { putChunked } from '../../../support/chunked-sends.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const payload = sampleBytes(20_000)
const SETTING = /with s3\.profile=compatible, or with aws-chunked in s3\.extensions; set AWS/

test('off, every form and mark is refused as before, and the setting is named', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  await server.raw('PUT', '/off')
  for (const form of CHUNK_FORMS) {
    const answer = await putChunked(server, '/off/key', { form, payload })
    isError(t, answer, 'NotImplemented', form)
    t.match(answer.text, SETTING, form)
  }
  const marks: readonly HeaderLine[] = [
    ['content-encoding', 'aws-chunked'],
    ['x-amz-decoded-content-length', '5'],
    ['x-amz-trailer', 'x-amz-checksum-crc32'],
  ]
  for (const mark of marks) {
    const answer = await server.raw('PUT', '/off/key', { body: 'bytes', headers: [mark] })
    isError(t, answer, 'NotImplemented', mark[0])
    t.match(answer.text, SETTING, mark[0])
  }
  isError(t, await server.raw('GET', '/off/key'), 'NoSuchKey', 'nothing was stored')
})

test('other extensions do not turn it on', async (t) => {
  const server = await startInThread({ extensions: ['checksums', 'append', 'delete-objects'] })
  t.teardown(() => server.stop())
  await server.raw('PUT', '/others')
  for (const form of CHUNK_FORMS) {
    isError(t, await putChunked(server, '/others/key', { form, payload }), 'NotImplemented', form)
  }
})

test('unsigned chunks over plain HTTP need a setting of their own', async (t) => {
  const server = await startInThread({ extensions: ['aws-chunked'] })
  t.teardown(() => server.stop())
  await server.raw('PUT', '/plain')
  const [signed, , unsigned] = CHUNK_FORMS
  const refused = await putChunked(server, '/plain/key', { form: unsigned, payload })
  isError(t, refused, 'InvalidRequest', 'unsigned')
  t.match(refused.text, /s3\.unsigned_chunks_over_http/)
  isError(t, await server.raw('GET', '/plain/key'), 'NoSuchKey', 'nothing was stored')
  isDone(t, await putChunked(server, '/plain/key', { form: signed, payload }), 200, 'signed')
})

test('marks of chunks without a form of them are refused', async (t) => {
  const server = await startInThread({ extensions: ['aws-chunked'] })
  t.teardown(() => server.stop())
  await server.raw('PUT', '/marks')
  for (const payloadHash of ['UNSIGNED-PAYLOAD', undefined]) {
    const sign = payloadHash === undefined ? {} : { payloadHash }
    for (const mark of [
      ['content-encoding', 'gzip, aws-chunked'],
      ['x-amz-decoded-content-length', '5'],
      ['x-amz-trailer', 'x-amz-checksum-crc32'],
    ] as const) {
      const answer = await server.raw('PUT', '/marks/key', { body: 'bytes', headers: [mark], sign })
      isError(t, answer, 'InvalidArgument', mark[0])
    }
  }
  const presigned = server.wire.presigned('PUT', '/marks/key', { query: [['X-Amz-Content-Sha256', CHUNK_FORMS[2]]] })
  const answer = await server.raw('PUT', presigned, { body: 'bytes', sign: false })
  isError(t, answer, 'NotImplemented', 'a presigned URL')
  isError(t, await server.raw('GET', '/marks/key'), 'NoSuchKey', 'nothing was stored')
})

test('unsigned chunks over plain HTTP are taken from a private address where the setting is private', (t) => {
  const mode = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
  const headers: HeaderLine[] = [
    ['x-amz-decoded-content-length', '5'],
    ['x-amz-trailer', 'x-amz-checksum-crc32'],
  ]
  const admit = (remoteAddress: string, secure: boolean) => {
    const { request, target } = wireRequest('PUT', '/b/k', headers)
    const http = Object.assign(Object.create(request) as HttpRequest, { remoteAddress, secure })
    const claimed = { kind: 'streaming', mode, signatures: {} }
    const asked = { http, target, payload: claimed, bodyBytesMaximum: 100 } as unknown as S3Request
    return refusalCode(() => uploadBody(asked, { unsignedChunksOverHttp: 'private' } as S3Services))
  }
  for (const address of ['127.0.0.1', '10.0.0.9', '::1', '::ffff:192.168.1.1'])
    t.equal(admit(address, false), undefined, address)
  for (const address of ['203.0.113.9', '2001:db8::1']) {
    t.equal(admit(address, false), 'InvalidRequest', address)
    t.equal(admit(address, true), undefined, `${address} over TLS`)
  }
  t.end()
})
