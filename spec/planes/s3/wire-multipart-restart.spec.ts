/** Multipart uploads over the end of the process, in good order and not, and over the loss of the projections. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { checkProjections } from '../../../projections/check.ts'
import {
  abort,
  complete,
  completionOf,
  createUpload,
  etagOf,
  largePart,
  PART_BYTES,
  partTarget,
  payloadFileNames,
  type SentPart,
  sendPart,
  settledFiles,
  uploadTarget,
  uploadWhole,
} from '../../support/multipart.ts'
import { startInThread, startProcess, temporaryDirectory, type TestServer } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { elements, firstElement, WireClient } from '../../support/wire-client.ts'
import { openRaw } from '../raw-client.ts'

const dataDirectory = temporaryDirectory()
const paths = new StorePaths(dataDirectory)
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const target = '/restart-bucket/begun'
const given = '/restart-bucket/given-up'
const large = '/restart-bucket/large'

interface Begun {
  readonly upload: string
  readonly givenUp: string
  readonly parts: readonly SentPart[]
}

let begun: Begun

/** Everything that clients see of the uploads and of the object made of parts. */
async function seen(server: TestServer): Promise<string[]> {
  const answers = [
    await server.raw('GET', '/restart-bucket?uploads'),
    await server.raw('GET', uploadTarget(target, begun.upload)),
    await server.raw('GET', uploadTarget(given, begun.givenUp)),
    await server.raw('GET', '/restart-bucket?list-type=2'),
    await server.raw('GET', `${large}?partNumber=2`),
  ]
  return answers.map(({ status, text }) => `${status} ${text}`)
}

let before: readonly string[] = []

async function isSame(t: Test, server: TestServer, what: string): Promise<void> {
  t.same(await seen(server), before, `${what}: all is as it was`)
  const got = await server.raw('GET', large)
  t.ok(got.body.equals(Buffer.concat([largePart(8), largePart(9), Buffer.from('end')])), `${what}: the object is whole`)
}

test('uploads are begun', async (t) => {
  const server = await startInThread({ dataDirectory })
  await server.raw('PUT', '/restart-bucket')
  const headers: HeaderLine[] = [
    ['content-type', 'text/x-restart'],
    ['x-amz-meta-one', '1'],
  ]
  const upload = await createUpload(server, target, headers)
  const givenUp = await createUpload(server, given)
  const parts: SentPart[] = []
  await sendPart(server, target, upload, 2, largePart(100))
  for (const [number, body] of [
    [1, largePart(1)],
    [2, largePart(2)],
    [9, 'small'],
    [7, largePart(7)],
  ] as const) {
    parts.push(await sendPart(server, target, upload, number, body))
  }
  await sendPart(server, given, givenUp, 1, largePart(3))
  await sendPart(server, given, givenUp, 2, 'small')
  await uploadWhole(server, large, [largePart(8), largePart(9), 'end'])
  begun = { upload, givenUp, parts }
  before = await seen(server)
  t.equal((await settledFiles(server)).length, 6)
  t.same(server.failures, [])
  await server.stop()
})

test('after a stop they go on', async (t) => {
  const server = await startInThread({ dataDirectory })
  await isSame(t, server, 'after a stop')
  t.match(server.store.catalog.uploadUsage(), { uploads: 2, parts: 6, bytes: 4 * PART_BYTES + 10 })
  await server.stop()
})

test('without its projections the store gives the same answers', async (t) => {
  rmSync(paths.projections, { recursive: true })
  const server = await startInThread({ dataDirectory })
  await isSame(t, server, 'after a replay')
  await server.stop()
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] })
})

test('killed in the middle of a part, the program starts with all that it answered for', async (t) => {
  const first = await startProcess({ dataDirectory })
  await isSame(t, first, 'as a process')
  const writer = openRaw(first.port)
  const part = partTarget(target, begun.upload, 3)
  const lines = first.wire.headersOf('PUT', part, { sign: { payloadHash: 'UNSIGNED-PAYLOAD' } })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  writer.send(`PUT ${part} HTTP/1.1\r\n${head}content-length: ${PART_BYTES}\r\n\r\n`)
  await writer.push(largePart(4).subarray(0, PART_BYTES - 1000))
  while (!existsSync(paths.uploads) || readdirSync(paths.uploads).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const racing = Array.from({ length: 6 }, (_, index) => {
    const there = partTarget(target, begun.upload, 20 + index)
    return first.raw('PUT', there, { body: index % 2 === 0 ? largePart(20 + index) : 'small' }).catch(() => undefined)
  })
  const [early] = await Promise.all([racing[0], racing[1]])
  t.equal(early?.status, 200)
  await first.kill9()
  const answers = await Promise.all(racing)
  const acknowledged = answers.flatMap((answer, index) => (answer?.status === 200 ? [String(20 + index)] : []))

  const second = await startProcess({ dataDirectory })
  const numbers = elements((await second.raw('GET', uploadTarget(target, begun.upload))).text, 'PartNumber')
  t.same(numbers.slice(0, 4), ['1', '2', '7', '9'])
  t.notOk(numbers.includes('3'), 'a part that was cut is not there')
  for (const number of acknowledged) t.ok(numbers.includes(number), `part ${number} was acknowledged`)
  isDone(t, await abort(second, given, begun.givenUp), 204, 'abort')
  const done = await complete(
    second,
    target,
    begun.upload,
    [...begun.parts].toSorted((left, right) => left.number - right.number),
  )
  isDone(t, done, 200, 'complete')
  const again = await complete(
    second,
    target,
    begun.upload,
    [...begun.parts].toSorted((left, right) => left.number - right.number),
  )
  t.equal(again.text, done.text)
  await second.kill9()

  const third = await startInThread({ dataDirectory })
  const got = await third.raw('GET', target)
  t.ok(got.body.equals(Buffer.concat([largePart(1), largePart(2), largePart(7), Buffer.from('small')])))
  t.match(got.headers, { 'content-type': 'text/x-restart', 'x-amz-meta-one': '1' })
  isError(t, await third.raw('GET', uploadTarget(given, begun.givenUp)), 'NoSuchUpload', 'what was given up is gone')
  const repeated = await complete(
    third,
    target,
    begun.upload,
    [...begun.parts].toSorted((left, right) => left.number - right.number),
  )
  t.equal(repeated.text.replace(/<Location>.*<\/Location>/, ''), done.text.replace(/<Location>.*<\/Location>/, ''))
  t.same(readdirSync(paths.uploads), [], 'no beginning of a part is left')
  t.same(third.store.catalog.uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
  const used = payloadFileNames(paths).filter((name) => third.store.catalog.payloadFileIsUsed(name))
  t.equal(used.length, 5, 'three parts of the one object, two of the other')
  await third.stop()
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] })
})

test('what a crash left behind is swept, and the rest stays', async (t) => {
  const server = await startProcess({ dataDirectory })
  while (payloadFileNames(paths).length > 5) await new Promise((resolve) => setTimeout(resolve, 10))
  const got = await server.raw('GET', target)
  t.ok(got.body.equals(Buffer.concat([largePart(1), largePart(2), largePart(7), Buffer.from('small')])))
  for (const object of [target, large]) isDone(t, await server.raw('DELETE', object), 204, 'delete')
  while (payloadFileNames(paths).length > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(await server.terminate(), 0)
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] })
})

test('parts that come over several front ends', async (t) => {
  const server = await startProcess({ frontEnds: 2 })
  t.teardown(() => server.stop())
  await server.raw('PUT', '/fronts-bucket')
  const clients = Array.from({ length: 8 }, () => new WireClient(server))
  const by = (index: number) => clients[index % clients.length] as WireClient
  for (let round = 0; round < 6; round += 1) {
    const key = `/fronts-bucket/${round}`
    const created = await by(round).send('POST', `${key}?uploads`)
    const upload = firstElement(created.text, 'UploadId') ?? ''
    const bodies = [largePart(round), largePart(round + 1), Buffer.from(`round ${round}`)]
    const sent = await Promise.all(
      bodies.map((body, index) => by(round + index + 1).send('PUT', partTarget(key, upload, index + 1), { body })),
    )
    const parts = sent.map((answer, index) => ({ number: index + 1, etag: String(answer.headers.etag) }))
    const done = { body: completionOf(parts) }
    const answers = await Promise.all([0, 3, 5].map((index) => by(index).send('POST', uploadTarget(key, upload), done)))
    t.same(
      answers.map((answer) => [answer.status, firstElement(answer.text, 'ETag')]),
      answers.map(() => [200, etagOf(bodies)]),
    )
    const got = await Promise.all(clients.map((client) => client.send('GET', key)))
    t.ok(
      got.every((answer) => answer.body.equals(Buffer.concat(bodies))),
      `round ${round}`,
    )
  }
  for (const client of clients) client.close()
})
