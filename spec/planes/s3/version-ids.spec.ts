import tap, { test } from 'tap'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { createBucket, historyOf, put, remove, setVersioning, versionIdOf } from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server

for (const bucket of ['ids', 'other-ids']) {
  await createBucket(server, bucket)
  await setVersioning(server, bucket, 'enabled')
}

test('s3-wire 5: version ids tell nothing: of one length, in no order, the same in no two stores', async (t) => {
  const ids: string[] = []
  for (let index = 0; index < 64; index += 1) ids.push(String(await put(server, 'ids/many', `${index}`)))
  t.ok(ids.every((id) => /^[A-Za-z0-9_-]{22}$/.test(id)))
  t.equal(new Set(ids).size, ids.length)
  t.notSame(ids.toSorted(), ids, 'not ascending')
  t.notSame(ids.toSorted().toReversed(), ids, 'nor descending')
  t.ok(new Set(ids.map((id) => id.slice(0, 2))).size > 32, 'neighbours have nothing in common')
  const text = await server.journalText()
  const last = ids.at(-1) ?? ''
  t.ok(text.includes(last), 'the audit record of a write names its version')

  const other = await startInThread()
  t.teardown(() => other.stop())
  await createBucket(other, 'ids')
  await createBucket(other, 'other-ids')
  await setVersioning(other, 'ids', 'enabled')
  await setVersioning(other, 'other-ids', 'enabled')
  const others: string[] = []
  for (let index = 0; index < 64; index += 1) others.push(String(await put(other, 'ids/many', `${index}`)))
  t.same(
    others.filter((id) => ids.includes(id)),
    [],
    'two stores with one master key and one history',
  )
  isError(t, await raw('GET', `/ids/many?versionId=${others[0]}`), 'NoSuchVersion', 'an id of another store')
})

test('S27, s3-wire 3: an id that names nothing here is 404; what is no id at all is 400', async (t) => {
  const id = String(await put(server, 'ids/known', 'known'))
  const elsewhere = String(await put(server, 'ids/another', 'another'))
  const otherBucket = String(await put(server, 'other-ids/known', 'other bucket'))
  const gone = String(await put(server, 'ids/known', 'gone'))
  await remove(server, 'ids/known', gone)
  const last = id.at(-1) === 'A' ? 'Q' : 'A'
  const unknown = [
    elsewhere,
    otherBucket,
    gone,
    'null',
    `${id.slice(0, -1)}${last}`,
    `${id}A`,
    id.slice(1),
    id.toLowerCase(),
    'A'.repeat(22),
    '1',
    '0',
    '-1',
    '9007199254740993',
    'a'.repeat(1024),
    'undefined',
    '__proto__',
  ].filter((one) => one !== id)
  for (const one of unknown) {
    const name = one.slice(0, 30)
    isError(t, await raw('GET', `/ids/known?versionId=${one}`), 'NoSuchVersion', name)
    t.equal((await raw('HEAD', `/ids/known?versionId=${one}`)).status, 404, name)
    const deleted = await raw('DELETE', `/ids/known?versionId=${one}`)
    isDone(t, deleted, 204, 'a deletion of what is not there is a success')
    t.equal(versionIdOf(deleted), one)
    t.notMatch(deleted.headers, { 'x-amz-delete-marker': String })
  }
  const malformed = [
    '',
    `${id}=`,
    `${id}%20`,
    `%20${id}`,
    `${id}%0A`,
    '%00',
    'a%2Fb',
    'a%2Bb',
    '%C3%BC',
    'a'.repeat(1025),
  ]
  for (const one of malformed) {
    const name = `malformed ${one.slice(0, 30)}`
    isError(t, await raw('GET', `/ids/known?versionId=${one}`), 'InvalidArgument', name)
    t.equal((await raw('HEAD', `/ids/known?versionId=${one}`)).status, 400, name)
    isError(t, await raw('DELETE', `/ids/known?versionId=${one}`), 'InvalidArgument', name)
  }
  isError(t, await raw('GET', '/ids/known?versionId'), 'InvalidArgument', 'a version id without a value')
  t.same(await historyOf(server, 'ids', 'known'), [`${id}*`], 'nothing of all this changed anything')
  t.equal((await raw('GET', `/ids/another?versionId=${elsewhere}`)).text, 'another')
  t.equal((await raw('GET', `/other-ids/known?versionId=${otherBucket}`)).text, 'other bucket')
})

test('S27: an id is exactly its text: no other spelling of the same bytes', async (t) => {
  const id = String(await put(server, 'ids/spelled', 'bytes'))
  // The last character of 22 holds four bits that say nothing; a lenient decoder drops them.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const spellings = [...alphabet].map((character) => id.slice(0, -1) + character).filter((one) => one !== id)
  for (const one of spellings) {
    isError(t, await raw('GET', `/ids/spelled?versionId=${one}`), 'NoSuchVersion', one.slice(-1))
  }
  t.equal((await raw('GET', `/ids/spelled?versionId=${id}`)).text, 'bytes')
})

test('s3-wire 3: a version id means nothing to operations that know no versions', async (t) => {
  const id = await put(server, 'ids/stray', 'bytes')
  const stray: [method: string, target: string, code: S3ErrorCode][] = [
    ['PUT', `/ids/stray?versionId=${id}`, 'InvalidArgument'],
    ['POST', `/ids/stray?uploads&versionId=${id}`, 'InvalidArgument'],
    ['GET', `/ids?versionId=${id}&list-type=2`, 'InvalidArgument'],
    ['GET', `/ids?versions&versionId=${id}`, 'InvalidArgument'],
    ['DELETE', `/ids?versionId=${id}`, 'InvalidArgument'],
    ['HEAD', `/ids?versionId=${id}`, 'InvalidArgument'],
  ]
  for (const [method, target, code] of stray) {
    const answer = await raw(method, target)
    if (method === 'HEAD') t.equal(answer.status, 400)
    else isError(t, answer, code, `${method} ${target}`)
  }
  t.same(await historyOf(server, 'ids', 'stray'), [`${id}*`], 'the bucket is not deleted, nothing is overwritten')
})

test('s3-wire 3: conditions, ranges and parts are those of the version', async (t) => {
  const bodies = [sampleBytes(1000), sampleBytes(200_000, 2), sampleBytes(0), sampleBytes(500, 3)]
  const ids: string[] = []
  for (const body of bodies) ids.push(String(await put(server, 'ids/read', body)))
  const etags: string[] = []
  for (const [index, id] of ids.entries()) {
    const target = `/ids/read?versionId=${id}`
    const body = bodies[index] ?? Buffer.alloc(0)
    const head = await raw('HEAD', target)
    etags.push(String(head.headers.etag))
    t.ok((await raw('GET', target)).body.equals(body))
    for (const [range, from, to] of [
      ['bytes=10-99', 10, 100],
      ['bytes=400-', 400, body.length],
      ['bytes=-50', body.length - 50, body.length],
    ] as const) {
      const ranged = await raw('GET', target, { headers: [['range', range]] })
      if (body.length === 0) {
        isError(t, ranged, 'InvalidRange', range)
        continue
      }
      t.equal(ranged.status, 206)
      t.ok(ranged.body.equals(body.subarray(from, to)), `${range} of version ${index}`)
      t.match(ranged.headers, { etag: etags[index], 'x-amz-version-id': id })
      t.equal(ranged.headers['content-range'], `bytes ${from}-${to - 1}/${body.length}`)
    }
    const unchanged = await raw('GET', target, { headers: [['if-none-match', String(etags[index])]] })
    t.equal(unchanged.status, 304)
    t.match(unchanged.headers, { etag: etags[index], 'x-amz-version-id': id }, '304 names the version')
    const part = await raw('GET', `${target}&partNumber=1`)
    t.equal(part.status, 206)
    t.ok(part.body.equals(body))
    isError(t, await raw('GET', `${target}&partNumber=2`), 'InvalidPart', 'there is no second part')
  }
  t.equal(new Set(etags).size, ids.length)
  const first = `/ids/read?versionId=${ids[0]}`
  isDone(t, await raw('GET', first, { headers: [['if-match', String(etags[0])]] }), 200, 'its own ETag')
  const current = { headers: [['if-match', String(etags[3])]] as const }
  isError(t, await raw('GET', first, current), 'PreconditionFailed', 'the ETag of the current version')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
