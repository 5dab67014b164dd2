/**
 * Reading objects that were made of parts: whole, in ranges, and damaged.
 * Proves: DO-CAP-13.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import { PayloadDamagedError } from '../../../../engine/payloads/payload-errors.ts'
import { writeLinkedParts } from '../../../support/linked-parts.ts'
import {
  complete,
  createUpload,
  etagOf,
  largePart,
  PART_BYTES,
  settledFiles,
  uploadWhole,
} from '../../../support/multipart.ts'
import { runsOf } from '../../../support/share-of-cases.ts'
import { type InThreadServer, startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { firstElement, type WireAnswer } from '../../../support/wire-client.ts'
import { openRaw } from '../../../support/raw/raw-client.ts'

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

test('an object of many parts, read by many at once', async (t) => {
  const count = runsOf(200, 40)
  const [Bucket, Key] = ['reads-bucket', 'many']
  const target = `${bucket}/${Key}`
  const upload = await createUpload(server, target)
  const bodies = [largePart(1), largePart(2, 1), largePart(3, 77)]
  const parts = await writeLinkedParts(server, Bucket, Key, bodies, count)
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
  t.equal((await raw('HEAD', `${target}?partNumber=${count}`)).headers['x-amz-mp-parts-count'], String(count))
  isDone(t, await raw('DELETE', target), 204, 'delete')
})

test('an object that goes away while it is read ends early, and never gives wrong bytes', async (t) => {
  const bodies = Array.from({ length: 12 }, (_, index) => largePart(index))
  const whole = Buffer.concat(bodies)
  const target = `${bucket}/vanishing`
  await uploadWhole(server, target, bodies)
  const reader = openRaw(server.port).send(server.wire.headText('GET', target))
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
      isError(t, got, 'ObjectDamaged', 'the first part: an error')
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
