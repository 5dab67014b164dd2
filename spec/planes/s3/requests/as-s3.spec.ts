/**
 * Odd requests that S3 refuses in a way of its own, on every profile. What S3 does with them and this server decided
 * otherwise is in the cases of If-Range, If-Unmodified-Since, and of malformed HTTP.
 */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { createBucket, put, setVersioning } from '../../../support/wire-versions.ts'
import { complete, createUpload, largePart, sendPart } from '../../../support/multipart.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const strict = await startInThread()
const summing = await startInThread({ extensions: ['checksums'] })
const servers = [strict, summing]
tap.teardown(() => Promise.all(servers.map((server) => server.stop())))
for (const server of servers) await createBucket(server, 'odd')
const { raw } = strict

test('a checksum that is announced is there', async (t) => {
  for (const algorithm of ['CRC32', 'SHA256', 'FOO']) {
    const headers: HeaderLine[] = [['x-amz-sdk-checksum-algorithm', algorithm]]
    isError(t, await raw('PUT', '/odd/announced', { body: 'bytes', headers }), 'InvalidRequest', algorithm)
  }
  const headers: HeaderLine[] = [
    ['x-amz-sdk-checksum-algorithm', 'FOO'],
    ['x-amz-checksum-crc32', 'AAAAAA=='],
  ]
  isError(t, await raw('PUT', '/odd/announced', { headers }), 'InvalidRequest', 'another one')
  isError(t, await raw('GET', '/odd/announced'), 'NoSuchKey', 'nothing was written')
})

test('an algorithm that S3 does not have is invalid, and one that only S3 has is refused by name', async (t) => {
  for (const server of servers) {
    await put(server, 'odd/source', 'bytes')
    const asks = [
      ['PUT', '/odd/asked', []],
      ['POST', '/odd/asked?uploads', []],
      ['PUT', '/odd/asked', [['x-amz-copy-source', '/odd/source']]],
    ] as const
    for (const [method, target, more] of asks) {
      for (const [algorithm, code] of [
        ['FOO', 'InvalidRequest'],
        ['', 'InvalidRequest'],
        ['XXHASH64', 'NotImplemented'],
        ['MD5', 'NotImplemented'],
      ] as const) {
        const headers: HeaderLine[] = [...more, ['x-amz-checksum-algorithm', algorithm]]
        isError(t, await server.raw(method, target, { headers }), code, `${method} ${target}: ${algorithm}`)
      }
    }
    isError(t, await server.raw('GET', '/odd/asked'), 'NoSuchKey', 'nothing was written')
  }
})

test('an algorithm that is there is kept and shown with the extension, and passed over without', async (t) => {
  const headers: HeaderLine[] = [['x-amz-checksum-algorithm', 'crc32c']]
  const passedOver = await raw('POST', '/odd/kept?uploads', { headers })
  isDone(t, passedOver, 200, 'strict')
  t.equal(passedOver.headers['x-amz-checksum-algorithm'], undefined)
  const kept = await summing.raw('POST', '/odd/kept?uploads', { headers })
  t.equal(kept.headers['x-amz-checksum-algorithm'], 'CRC32C')
})

test('a part that is not there is a range that cannot be satisfied', async (t) => {
  await put(strict, 'odd/one', 'bytes')
  for (const method of ['GET', 'HEAD'] as const) {
    isDone(t, await raw(method, '/odd/one?partNumber=1'), 206, 'the one part')
    t.equal((await raw(method, '/odd/one?partNumber=2')).status, 416, method)
  }
  const refused = await raw('GET', '/odd/one?partNumber=2')
  isError(t, refused, 'InvalidPartNumber', 'of one')
  t.match(refused.text, '<ActualPartCount>1</ActualPartCount><PartNumberRequested>2</PartNumberRequested>')
  const upload = await createUpload(strict, '/odd/parts')
  const parts = [
    await sendPart(strict, '/odd/parts', upload, 1, largePart(1)),
    await sendPart(strict, '/odd/parts', upload, 7, 'end'),
  ]
  isDone(t, await complete(strict, '/odd/parts', upload, parts), 200, 'of two')
  t.equal((await raw('GET', '/odd/parts?partNumber=2')).text, 'end')
  isError(t, await raw('GET', '/odd/parts?partNumber=3'), 'InvalidPartNumber', 'of two')
})

test('what has not the form of a version id is an invalid argument, and nothing is deleted', async (t) => {
  await setVersioning(strict, 'odd', 'enabled')
  const id = String(await put(strict, 'odd/version', 'bytes'))
  for (const odd of ['nope', '0'.repeat(32), 'null ', id.slice(1), `${id}A`, `${id.slice(1)}.`, '']) {
    const query = `versionId=${encodeURIComponent(odd)}`
    isError(t, await raw('GET', `/odd/version?${query}`), 'InvalidArgument', `GET ${odd}`)
    t.equal((await raw('HEAD', `/odd/version?${query}`)).status, 400, `HEAD ${odd}`)
    isError(t, await raw('DELETE', `/odd/version?${query}`), 'InvalidArgument', `DELETE ${odd}`)
    const headers: HeaderLine[] = [['x-amz-copy-source', `/odd/version?${query}`]]
    isError(t, await raw('PUT', '/odd/copy', { headers }), 'InvalidArgument', `a copy of ${odd}`)
  }
  const strange = `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`
  isError(t, await raw('GET', `/odd/version?versionId=${strange}`), 'NoSuchVersion', 'one that was never given out')
  isDone(t, await raw('DELETE', `/odd/version?versionId=${strange}`), 204, 'which is deleted already')
  t.equal((await raw('GET', `/odd/version?versionId=${id}`)).text, 'bytes')
})

test('a page is asked for with a number of 32 bits', async (t) => {
  for (const [query, name] of [
    ['list-type=2', 'max-keys'],
    ['versions', 'max-keys'],
    ['uploads', 'max-uploads'],
  ]) {
    isDone(t, await raw('GET', `/odd?${query}&${name}=2147483647`), 200, `${query}: the largest`)
    for (const number of ['2147483648', '99999999999', '9'.repeat(400)]) {
      isError(t, await raw('GET', `/odd?${query}&${name}=${number}`), 'InvalidArgument', `${query}: ${number}`)
    }
  }
})
