/** Reading objects that were made of parts: whole, ranges, single parts, copies. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import {
  complete,
  createUpload,
  etagOf,
  largePart,
  PART_BYTES,
  type SentPart,
  sendPart,
  settledFiles,
  uploadWhole,
} from '../../support/multipart.ts'
import { writeLinkedParts } from '../../support/linked-parts.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { type InThreadServer, startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { openRaw } from '../raw-client.ts'

const server = await startInThread()
const sealed = await startInThread({ encryptionEnabled: true })
tap.teardown(async () => {
  await server.stop()
  await sealed.stop()
})
const { raw } = server
const bucket = '/reads-bucket'

await raw('PUT', bucket)
await sealed.raw('PUT', bucket)

/** Two parts in files, and a last one so small that it lives in a volume. */
const BODIES = [largePart(1, 3), largePart(2), Buffer.from('the last part')]
const WHOLE = Buffer.concat(BODIES)

function isRead(t: Test, answer: WireAnswer, status: number, body: Buffer | string, name: string): void {
  t.ok(answer.complete && answer.body.equals(Buffer.from(body)), `${name}: bytes`)
  t.equal(answer.status, status, `${name}: status`)
}

function ranged(from: InThreadServer, target: string, range: string) {
  return from.raw('GET', target, { headers: [['range', `bytes=${range}`]] })
}

async function reads(t: Test, from: InThreadServer, target: string): Promise<void> {
  const size = WHOLE.length
  const border = PART_BYTES + 3
  const ranges: [range: string, first: number, last: number][] = [
    ['0-0', 0, 0],
    ['0-', 0, size - 1],
    [`1-${size - 2}`, 1, size - 2],
    [`${border - 1}-${border - 1}`, border - 1, border - 1],
    [`${border}-${border}`, border, border],
    [`${border - 1}-${border}`, border - 1, border],
    [`${border - 70_000}-${border + 70_000}`, border - 70_000, border + 70_000],
    [`${size - 14}-${size - 14}`, size - 14, size - 14],
    [`${size - 13}-${size - 13}`, size - 13, size - 13],
    [`${size - 70_000}-${size - 2}`, size - 70_000, size - 2],
    ['-1', size - 1, size - 1],
    ['-13', size - 13, size - 1],
    ['-14', size - 14, size - 1],
    [`-${size - border}`, border, size - 1],
    [`-${size - border + 1}`, border - 1, size - 1],
    [`-${size + 1}`, 0, size - 1],
    [`${size - 1}-${size + 100}`, size - 1, size - 1],
  ]
  for (const [range, first, last] of ranges) {
    const part = await ranged(from, target, range)
    isRead(t, part, 206, WHOLE.subarray(first, last + 1), range)
    t.equal(part.headers['content-range'], `bytes ${first}-${last}/${size}`)
    const head = await from.raw('HEAD', target, { headers: [['range', `bytes=${range}`]] })
    t.same([head.status, head.headers['content-length']], [206, String(last - first + 1)], `HEAD of ${range}`)
  }
  for (const range of [`${size}-`, `${size}-${size + 1}`, '-0']) {
    isError(t, await ranged(from, target, range), 'InvalidRange', range)
  }
}

for (const [name, from] of Object.entries({ plain: server, encrypted: sealed })) {
  test(`ranges over the borders of parts, ${name}`, async (t) => {
    const done = await uploadWhole(from, `${bucket}/three`, BODIES)
    t.equal(firstElement(done.text, 'ETag'), etagOf(BODIES))
    isRead(t, await from.raw('GET', `${bucket}/three`), 200, WHOLE, 'whole')
    await reads(t, from, `${bucket}/three`)
    isDone(t, await from.raw('DELETE', `${bucket}/three`), 204, 'delete')
    t.same(await settledFiles(from), [])
  })
}

test('single parts of an object', async (t) => {
  const target = `${bucket}/parts`
  const upload = await createUpload(server, target)
  const bodies = [largePart(4), largePart(5, 1), Buffer.alloc(0)]
  const parts: SentPart[] = []
  // The numbers of the upload have gaps; the object counts its parts.
  for (const [index, body] of bodies.entries()) parts.push(await sendPart(server, target, upload, 10 * index + 7, body))
  const etag = firstElement((await complete(server, target, upload, parts)).text, 'ETag')
  const size = 2 * PART_BYTES + 1
  let first = 0
  for (const [index, body] of bodies.entries()) {
    const got = await raw('GET', `${target}?partNumber=${index + 1}`)
    isRead(t, got, 206, body, `part ${index + 1}`)
    const { headers } = got
    t.same([headers.etag, headers['x-amz-mp-parts-count']], [etag, '3'])
    const range = body.length === 0 ? undefined : `bytes ${first}-${first + body.length - 1}/${size}`
    t.equal(headers['content-range'], range)
    const head = await raw('HEAD', `${target}?partNumber=${index + 1}`)
    const { 'content-length': length, 'x-amz-mp-parts-count': count } = head.headers
    t.same([head.status, length, count, head.headers['content-range']], [206, String(body.length), '3', range])
    first += body.length
  }
  isError(t, await raw('GET', `${target}?partNumber=4`), 'InvalidPart', 'beyond the last')
  isError(t, await raw('GET', `${target}?partNumber=10000`), 'InvalidPart', 'far beyond')
  t.equal((await raw('HEAD', `${target}?partNumber=4`)).status, 400)
  for (const number of ['0', '10001', '-1', 'x', '', '1.5']) {
    isError(t, await raw('GET', `${target}?partNumber=${number}`), 'InvalidArgument', number)
  }
  const both: HeaderLine[] = [['range', 'bytes=0-1']]
  isError(t, await raw('GET', `${target}?partNumber=1`, { headers: both }), 'InvalidRequest', 'with a range')
  const matching: HeaderLine[] = [['if-none-match', String(etag)]]
  t.equal((await raw('GET', `${target}?partNumber=1`, { headers: matching })).status, 304, 'conditions come first')
  const plain = await raw('GET', target)
  t.same([plain.status, plain.headers['x-amz-mp-parts-count']], [200, undefined])
})

test('an object that was written whole is its only part', async (t) => {
  for (const size of [0, 10, 100_000]) {
    const target = `${bucket}/written-${size}`
    const body = sampleBytes(size)
    await raw('PUT', target, { body })
    const got = await raw('GET', `${target}?partNumber=1`)
    isRead(t, got, 206, body, `${size} bytes`)
    t.equal(got.headers['x-amz-mp-parts-count'], undefined)
    t.equal(got.headers['content-range'], size === 0 ? undefined : `bytes 0-${size - 1}/${size}`)
    isError(t, await raw('GET', `${target}?partNumber=2`), 'InvalidPart', 'there is no second')
  }
  const empty = await uploadWhole(server, `${bucket}/empty`, [''])
  const got = await raw('GET', `${bucket}/empty?partNumber=1`)
  isDone(t, got, 206, 'one part of nothing')
  t.same([got.body.length, got.headers['x-amz-mp-parts-count'], got.headers['content-range']], [0, '1', undefined])
  t.equal(got.headers.etag, firstElement(empty.text, 'ETag'))
})

test('an object of 200 parts, read by many at once', async (t) => {
  const [Bucket, Key] = ['reads-bucket', 'two-hundred']
  const target = `${bucket}/${Key}`
  const upload = await createUpload(server, target)
  const bodies = [largePart(1), largePart(2, 1), largePart(3, 77)]
  const parts = await writeLinkedParts(server, Bucket, Key, bodies, 200)
  const all = parts.map((_, index) => bodies[index % bodies.length] as Buffer)
  const done = await complete(server, target, upload, parts)
  t.equal(firstElement(done.text, 'ETag'), etagOf(all))
  const whole = createHash('sha256')
  for (const body of all) whole.update(body)
  const got = createHash('sha256')
  const answer = await server.s3.send(new GetObjectCommand({ Bucket, Key }))
  for await (const piece of answer.Body as AsyncIterable<Buffer>) got.update(piece)
  t.equal(got.digest('hex'), whole.digest('hex'))
  const size = all.reduce((bytes, body) => bytes + body.length, 0)
  t.equal(answer.ContentLength, size)
  const three = Buffer.concat(bodies)
  const twice = Buffer.concat([three, three])
  const places = Array.from({ length: 40 }, (_, index) => Math.imul(index + 1, 26_214_399) >>> 0)
  const answers = await Promise.all(
    places.map((place) => {
      const first = place % (size - three.length)
      return ranged(server, target, `${first}-${first + 999_999}`)
    }),
  )
  t.same(
    answers.map(({ body }, index) => {
      const first = ((places[index] ?? 0) % (size - three.length)) % three.length
      return body.equals(twice.subarray(first, first + 1_000_000))
    }),
    places.map(() => true),
  )
  t.equal((await raw('HEAD', `${target}?partNumber=200`)).headers['x-amz-mp-parts-count'], '200')
  isDone(t, await raw('DELETE', target), 204, 'delete')
})

test('a copy shares the parts, and outlives what it was copied from', async (t) => {
  const target = `${bucket}/original`
  const { length: before } = await settledFiles(server)
  const headers: HeaderLine[] = [
    ['content-type', 'text/x-parts'],
    ['x-amz-meta-one', '1'],
  ]
  const done = await uploadWhole(server, target, [largePart(6), 'end'], headers)
  const etag = firstElement(done.text, 'ETag')
  const source: HeaderLine[] = [['x-amz-copy-source', target]]
  const copied = await raw('PUT', `${bucket}/copy`, { headers: source })
  t.equal(firstElement(copied.text, 'ETag'), etag, 'the copy keeps the ETag')
  t.equal((await settledFiles(server)).length, before + 1, 'no byte was copied')
  const changed: HeaderLine[] = [...source, ['x-amz-metadata-directive', 'REPLACE'], ['x-amz-meta-two', '2']]
  isDone(t, await raw('PUT', target, { headers: changed }), 200, 'onto itself')
  t.match((await raw('HEAD', target)).headers, { etag, 'x-amz-meta-two': '2' })
  t.equal((await raw('GET', `${target}?partNumber=2`)).text, 'end')
  isDone(t, await raw('DELETE', target), 204, 'delete the original')
  t.equal((await settledFiles(server)).length, before + 1)
  const copy = await raw('GET', `${bucket}/copy`)
  t.ok(copy.body.equals(Buffer.concat([largePart(6), Buffer.from('end')])), 'the copy is whole')
  t.match(copy.headers, { etag, 'content-type': 'text/x-parts', 'x-amz-meta-one': '1' })
  t.equal((await raw('GET', `${bucket}/copy?partNumber=2`)).headers['x-amz-mp-parts-count'], '2')
  isDone(t, await raw('PUT', `${bucket}/copy`, { body: 'small' }), 200, 'overwrite the copy')
  t.equal((await settledFiles(server)).length, before, 'and nothing is left')
})

test('every way to replace an object of parts gives its bytes back', async (t) => {
  const target = `${bucket}/overwritten`
  const { length: before } = await settledFiles(server)
  const expect = async (files: number, what: string) =>
    t.equal((await settledFiles(server)).length, before + files, what)
  await uploadWhole(server, target, [largePart(1), largePart(2), largePart(3)])
  await expect(3, 'three parts')
  await uploadWhole(server, target, [largePart(4), 'small'])
  await expect(1, 'replaced by another upload')
  await raw('PUT', target, { body: sampleBytes(100_000) })
  await expect(1, 'replaced by a large object')
  await uploadWhole(server, target, [largePart(5), largePart(6)])
  await expect(2, 'replaced by parts')
  await raw('PUT', `${bucket}/little`, { body: 'x' })
  const source: HeaderLine[] = [['x-amz-copy-source', `${bucket}/little`]]
  isDone(t, await raw('PUT', target, { headers: source }), 200, 'copy over it')
  await expect(0, 'replaced by a copy')
})

test('an object that goes away while it is read ends early, and never gives wrong bytes', async (t) => {
  const bodies = Array.from({ length: 12 }, (_, index) => largePart(index))
  const whole = Buffer.concat(bodies)
  const target = `${bucket}/vanishing`
  await uploadWhole(server, target, bodies)
  const reader = openRaw(server.port)
  const lines = server.wire.headersOf('GET', target).map(([name, value]) => `${name}: ${value}\r\n`)
  reader.send(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
  await reader.until(/\r\n\r\n/)
  reader.socket.pause()
  isDone(t, await raw('DELETE', target), 204, 'delete')
  reader.socket.resume()
  const length = `content-length: ${whole.length}`
  while (reader.received.length < whole.length && !reader.socket.closed)
    await new Promise((resolve) => setTimeout(resolve, 10))
  const head = reader.received.indexOf('\r\n\r\n') + 4
  t.ok(reader.received.slice(0, head).toLowerCase().includes(length))
  const body = Buffer.from(reader.received.slice(head), 'latin1')
  t.ok(body.equals(whole.subarray(0, body.length)), `${body.length} of ${whole.length} bytes came, and they are right`)
  t.ok(body.length < whole.length, 'it ends early')
  reader.socket.destroy()
  t.same(server.failures, [], 'which is no fault of the server')
})

/** Turns one bit of a byte over; doing it again mends it. */
function flip(path: string, offset: number): void {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, offset)
  byte[0] = (byte[0] ?? 0) ^ 1
  writeSync(file, byte, 0, 1, offset)
  closeSync(file)
}

test('a damaged part is found before its bytes leave', async (t) => {
  const target = `${bucket}/damaged`
  const before = new Set(await settledFiles(server))
  await uploadWhole(server, target, [largePart(1), largePart(2), 'end'])
  const files = (await settledFiles(server)).filter((name) => !before.has(name)).map((name) => server.paths.file(name))
  t.equal(files.length, 2)
  const whole = Buffer.concat([largePart(1), largePart(2), Buffer.from('end')])
  for (const path of files) {
    flip(path, 100)
    const got = await raw('GET', target)
    if (got.status === 200) {
      t.equal(got.complete, false, 'a later part: the answer is cut short')
      t.ok(got.body.equals(whole.subarray(0, got.body.length)) && got.body.length <= PART_BYTES)
    } else {
      isError(t, got, 'InternalError', 'the first part: an error')
    }
    t.equal((await ranged(server, target, '-3')).text, 'end', 'what is whole is given')
    flip(path, 100)
    const found = server.failures.splice(0)
    t.ok(found.length > 0 && found.every((error) => error instanceof PayloadDamagedError), 'and it is told')
  }
  t.ok((await raw('GET', target)).body.equals(whole))
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.same(sealed.failures, [])
  t.equal(server.gate.active, 0)
})
