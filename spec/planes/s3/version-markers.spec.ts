import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import type { RawRequest, WireAnswer } from '../../support/wire-client.ts'
import { createBucket, historyOf, put, remove, setVersioning, versionIdOf } from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const Bucket = 'markers'

await createBucket(server, Bucket)
await setVersioning(server, Bucket, 'enabled')

function matching(etag: string): RawRequest {
  return { headers: [['if-match', etag]] }
}

/** What a read says of a marker, in its headers alone. */
function markerOf({ headers }: WireAnswer): object {
  const { 'x-amz-delete-marker': marker, 'x-amz-version-id': id, 'last-modified': modified, allow } = headers
  return { marker, id, dated: typeof modified === 'string', allow }
}

test('s3-wire 3: a key behind a marker is 404, and its headers say why', async (t) => {
  await put(server, 'markers/hidden', 'bytes')
  const id = await remove(server, 'markers/hidden')
  const expected = { marker: 'true', id, dated: true, allow: undefined }
  const got = await raw('GET', '/markers/hidden')
  isError(t, got, 'NoSuchKey', 'GET')
  t.same(markerOf(got), expected)
  const head = await raw('HEAD', '/markers/hidden')
  t.equal(head.status, 404)
  t.same(markerOf(head), expected, 'HEAD has the headers too')
  t.equal(head.text, '')
  const conditions = [
    ['if-match', '*'],
    ['if-none-match', '*'],
    ['if-modified-since', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['range', 'bytes=0-1'],
  ] as const
  for (const line of conditions) {
    const answer = await raw('GET', '/markers/hidden', { headers: [line] })
    isError(t, answer, 'NoSuchKey', `a missing key is 404 whatever the ${line[0]}`)
    t.same(markerOf(answer), expected)
  }
  t.same(markerOf(await raw('GET', '/markers/never')), {
    marker: undefined,
    id: undefined,
    dated: false,
    allow: undefined,
  })
})

test('s3-wire 3: a marker by its id is 405, with Allow', async (t) => {
  await put(server, 'markers/by-id', 'bytes')
  const id = await remove(server, 'markers/by-id')
  await put(server, 'markers/by-id', 'above')
  const expected = { marker: 'true', id, dated: true, allow: 'DELETE' }
  for (const query of [`versionId=${id}`, `versionId=${id}&partNumber=1`, `partNumber=1&versionId=${id}`]) {
    const got = await raw('GET', `/markers/by-id?${query}`)
    isError(t, got, 'MethodNotAllowed', 'GET')
    t.same(markerOf(got), expected)
    const head = await raw('HEAD', `/markers/by-id?${query}`)
    t.equal(head.status, 405)
    t.same(markerOf(head), expected)
  }
  const conditional = await raw('GET', `/markers/by-id?versionId=${id}`, { headers: [['if-none-match', '*']] })
  isError(t, conditional, 'MethodNotAllowed', 'a condition does not make it an object')
})

test('s3-wire 3: a null marker is a marker like any other', async (t) => {
  await createBucket(server, 'null-markers')
  await setVersioning(server, 'null-markers', 'suspended')
  await remove(server, 'null-markers/k')
  t.same(markerOf(await raw('GET', '/null-markers/k')), { marker: 'true', id: 'null', dated: true, allow: undefined })
  const byId = await raw('GET', '/null-markers/k?versionId=null')
  isError(t, byId, 'MethodNotAllowed', 'by its id')
  t.same(markerOf(byId), { marker: 'true', id: 'null', dated: true, allow: 'DELETE' })
  await put(server, 'null-markers/k', 'bytes')
  t.equal((await raw('GET', '/null-markers/k?versionId=null')).text, 'bytes', 'a write takes its place')
  await remove(server, 'null-markers/k')
  await setVersioning(server, 'null-markers', 'enabled')
  const above = await put(server, 'null-markers/k', 'above')
  t.same(await historyOf(server, 'null-markers', 'k'), [`${above}*`, 'null (marker)'])
  const removed = await raw('DELETE', '/null-markers/k?versionId=null')
  t.match(removed.headers, { 'x-amz-delete-marker': 'true', 'x-amz-version-id': 'null' })
  t.same(await historyOf(server, 'null-markers', 'k'), [`${above}*`])
})

test('s3-wire 3: a marker that is deleted uncovers what is below', async (t) => {
  const one = await put(server, 'markers/uncovered', 'one')
  const two = await put(server, 'markers/uncovered', 'two')
  const lower = await remove(server, 'markers/uncovered')
  const upper = await remove(server, 'markers/uncovered')
  t.not(lower, upper, 'each deletion makes a marker of its own')
  const gone = await raw('DELETE', `/markers/uncovered?versionId=${upper}`)
  isDone(t, gone, 204, 'the upper one')
  t.match(gone.headers, { 'x-amz-delete-marker': 'true', 'x-amz-version-id': upper })
  isError(t, await raw('GET', '/markers/uncovered'), 'NoSuchKey', 'below it is another marker')
  t.same(await historyOf(server, Bucket, 'uncovered'), [`${lower} (marker)*`, two, one])
  await remove(server, 'markers/uncovered', lower)
  t.equal((await raw('GET', '/markers/uncovered')).text, 'two', 'below that is an object')
  t.match((await raw('GET', '/markers?list-type=2&prefix=uncovered')).text, '<Key>uncovered</Key>')
})

test('s3-wire 3: deleting the current version makes the next newest current, object or marker', async (t) => {
  const one = await put(server, 'markers/next', 'one')
  const marker = await remove(server, 'markers/next')
  const two = await put(server, 'markers/next', 'two')
  const three = await put(server, 'markers/next', 'three')
  const gone = await raw('DELETE', `/markers/next?versionId=${three}`)
  t.notMatch(gone.headers, { 'x-amz-delete-marker': String })
  t.equal(versionIdOf(gone), three)
  const current = await raw('GET', '/markers/next')
  t.equal(current.text, 'two')
  t.equal(versionIdOf(current), two)
  await remove(server, 'markers/next', two)
  const hidden = await raw('GET', '/markers/next')
  isError(t, hidden, 'NoSuchKey', 'the next is a marker')
  t.equal(versionIdOf(hidden), marker)
  t.notMatch((await raw('GET', '/markers?list-type=2&prefix=next')).text, '<Key>')
  t.same(await historyOf(server, Bucket, 'next'), [`${marker} (marker)*`, one])
  await remove(server, 'markers/next', one)
  t.same(await historyOf(server, Bucket, 'next'), [`${marker} (marker)*`], 'what is below a marker can go first')
  await remove(server, 'markers/next', marker)
  t.same(await historyOf(server, Bucket, 'next'), [])
  t.notMatch(await raw('GET', '/markers/next'), { headers: { 'x-amz-delete-marker': String } })
})

test('s3-wire 3: a noncurrent version that is deleted changes nothing above it', async (t) => {
  const one = await put(server, 'markers/middle', 'one')
  const two = await put(server, 'markers/middle', 'two')
  const three = await put(server, 'markers/middle', 'three')
  await remove(server, 'markers/middle', two)
  t.equal((await raw('GET', '/markers/middle')).text, 'three')
  t.same(await historyOf(server, Bucket, 'middle'), [`${three}*`, one])
  await remove(server, 'markers/middle', two)
  t.same(await historyOf(server, Bucket, 'middle'), [`${three}*`, one], 'once more is a success that changes nothing')
})

test('s3-wire 3: conditions of a deletion are on what it would delete', async (t) => {
  const one = await put(server, 'markers/conditional', 'one')
  await put(server, 'markers/conditional', 'two')
  const etagOf = async (query: string) => String((await raw('HEAD', `/markers/conditional${query}`)).headers.etag)
  const [oldEtag, newEtag] = [await etagOf(`?versionId=${one}`), await etagOf('')]
  isError(t, await raw('DELETE', '/markers/conditional', matching(oldEtag)), 'PreconditionFailed', 'the current one')
  const older = `/markers/conditional?versionId=${one}`
  isError(t, await raw('DELETE', older, matching(newEtag)), 'PreconditionFailed', 'the version named')
  isDone(t, await raw('DELETE', older, matching(oldEtag)), 204, 'the version named')
  isDone(t, await raw('DELETE', '/markers/conditional', matching(newEtag)), 204, 'the current one')
  isError(
    t,
    await raw('DELETE', '/markers/conditional', matching(newEtag)),
    'PreconditionFailed',
    'a marker has no ETag',
  )
  isDone(t, await raw('DELETE', '/markers/never', matching(newEtag)), 204, 'what never was needs no condition')
  const absent = { headers: [['if-none-match', '*']] as const, body: 'three' }
  isDone(t, await raw('PUT', '/markers/conditional', absent), 200, 'If-None-Match: * sees none behind a marker either')
  isError(t, await raw('PUT', '/markers/conditional', absent), 'PreconditionFailed', 'and sees the one that it wrote')
})

test('the SDK sees the same', async (t) => {
  const Key = 'sdk'
  const version = await put(server, 'markers/sdk', 'bytes')
  const deleted = await s3.send(new DeleteObjectCommand({ Bucket, Key }))
  t.match(deleted, { DeleteMarker: true, VersionId: /^[\w-]{22}$/ })
  const { VersionId } = deleted
  t.equal(await errorName(s3.send(new GetObjectCommand({ Bucket, Key }))), 'NoSuchKey')
  t.equal(await errorName(s3.send(new GetObjectCommand({ Bucket, Key, VersionId }))), 'MethodNotAllowed')
  t.equal(await errorName(s3.send(new HeadObjectCommand({ Bucket, Key }))), 'NotFound')
  t.match(await s3.send(new HeadObjectCommand({ Bucket, Key, VersionId: version })), { VersionId: version })
  t.match(await s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId })), { DeleteMarker: true, VersionId })
  const gone = await s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId: version }))
  t.match(gone, { VersionId: version, DeleteMarker: undefined })
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
