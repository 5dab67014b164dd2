/** The state machine of versioning, row by row (S3 user guide, Using versioning in S3 buckets). */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { createBucket, historyOf, put, remove, setVersioning, versionIdOf } from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server
const ID = /^[\w-]{22}$/

function configuration(status: string): string {
  return `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${status}</VersioningConfiguration>`
}

function copyOf(source: string): HeaderLine[] {
  return [['x-amz-copy-source', source]]
}

test('specification "Versioning": off by default, then enabled or suspended and never off again', async (t) => {
  await createBucket(server, 'states')
  const state = async () => (await raw('GET', '/states?versioning')).text.replace(/^.*\n/, '')
  t.equal(await state(), configuration(''))
  for (const status of ['Enabled', 'Enabled', 'Suspended', 'Suspended', 'Enabled']) {
    const answer = await raw('PUT', '/states?versioning', { body: configuration(`<Status>${status}</Status>`) })
    isDone(t, answer, 200, status)
    t.equal(answer.text, '')
    t.equal(await state(), configuration(`<Status>${status}</Status>`))
  }
  const mfa = configuration('<Status>Suspended</Status><MfaDelete>Disabled</MfaDelete>')
  isDone(t, await raw('PUT', '/states?versioning', { body: mfa }), 200, 's3-wire 5: MfaDelete Disabled says nothing')
  const refused = [
    ['', 'IllegalVersioningConfigurationException'],
    ['<Status></Status>', 'MalformedXML'],
    ['<Status>Off</Status>', 'MalformedXML'],
    ['<Status>enabled</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><Status>Suspended</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>', 'NotImplemented'],
  ] as const
  for (const [status, code] of refused) {
    isError(t, await raw('PUT', '/states?versioning', { body: configuration(status) }), code, status)
  }
  isError(t, await raw('PUT', '/states?versioning', { body: '' }), 'MalformedXML', 'no document')
  t.equal(await state(), configuration('<Status>Suspended</Status>'), 'nothing of this came to anything')
  isError(t, await raw('PUT', '/no-such-bucket?versioning', { body: mfa }), 'NoSuchBucket', 'no bucket')
  isError(t, await raw('GET', '/no-such-bucket?versioning'), 'NoSuchBucket', 'no bucket')
})

test('s3-wire 3, 5: off, where a write replaces and a deletion leaves nothing', async (t) => {
  await createBucket(server, 'off')
  t.equal(await put(server, 'off/k', 'one'), undefined, 'no version header')
  t.equal(await put(server, 'off/k', 'two'), undefined)
  t.equal(versionIdOf(await raw('GET', '/off/k')), undefined)
  t.equal((await raw('GET', '/off/k?versionId=null')).text, 'two', 'the object is its null version')
  t.same(await historyOf(server, 'off', 'k'), ['null*'])
  const copied = await raw('PUT', '/off/copy', { headers: copyOf('off/k') })
  isDone(t, copied, 200, 'copy')
  t.notMatch(copied.headers, { 'x-amz-copy-source-version-id': String })
  t.equal(versionIdOf(copied), undefined)
  const deleted = await raw('DELETE', '/off/k')
  isDone(t, deleted, 204, 'delete')
  t.notMatch(deleted.headers, { 'x-amz-delete-marker': String })
  t.same(await historyOf(server, 'off', 'k'), [])
  isError(t, await raw('GET', '/off/k'), 'NoSuchKey', 'get')
  isError(t, await raw('GET', '/off/k?versionId=null'), 'NoSuchVersion', 'get null')
  await put(server, 'off/k', 'three')
  isDone(t, await raw('DELETE', '/off/k?versionId=null'), 204, 'delete null')
  isError(t, await raw('GET', '/off/k'), 'NoSuchKey', 'the null version was the object')
})

test('s3-wire 3, 5: enabled, where a write stands beside the others and a deletion hides them', async (t) => {
  await createBucket(server, 'enabled')
  await put(server, 'enabled/k', 'before')
  await setVersioning(server, 'enabled', 'enabled')
  t.same(await historyOf(server, 'enabled', 'k'), ['null*'], 'what was there is adopted as version null')
  t.equal(versionIdOf(await raw('HEAD', '/enabled/k')), 'null')
  const one = await put(server, 'enabled/k', 'one')
  const two = await put(server, 'enabled/k', 'two')
  t.match(one, ID)
  t.match(two, ID)
  t.same(await historyOf(server, 'enabled', 'k'), [`${two}*`, one, 'null'])
  for (const [id, text] of [
    ['null', 'before'],
    [one, 'one'],
    [two, 'two'],
  ] as const) {
    const got = await raw('GET', `/enabled/k?versionId=${id}`)
    t.equal(got.text, text)
    t.equal(versionIdOf(got), id)
    t.equal((await raw('HEAD', `/enabled/k?versionId=${id}`)).headers['content-length'], String(text.length))
  }
  const current = await raw('GET', '/enabled/k')
  t.equal(current.text, 'two')
  t.equal(versionIdOf(current), two)
  const marker = await raw('DELETE', '/enabled/k')
  isDone(t, marker, 204, 'delete')
  t.equal(marker.headers['x-amz-delete-marker'], 'true')
  t.match(versionIdOf(marker), ID)
  const history = [`${versionIdOf(marker)} (marker)*`, two, one, 'null']
  t.same(await historyOf(server, 'enabled', 'k'), history)
  isError(t, await raw('GET', '/enabled/k'), 'NoSuchKey', 'get')
  t.equal((await raw('GET', `/enabled/k?versionId=${one}`)).text, 'one', 'the versions are still there')
  t.notMatch((await raw('GET', '/enabled?list-type=2')).text, '<Contents>')
  await remove(server, 'enabled/k', 'null')
  isError(t, await raw('GET', '/enabled/k?versionId=null'), 'NoSuchVersion', 'null is gone')
  t.same(await historyOf(server, 'enabled', 'k'), history.slice(0, 3))
})

test('s3-wire 3, 5: suspended, where null versions replace each other and the others stay', async (t) => {
  await createBucket(server, 'suspended')
  await setVersioning(server, 'suspended', 'enabled')
  const kept = await put(server, 'suspended/k', 'kept')
  await setVersioning(server, 'suspended', 'suspended')
  t.same(await historyOf(server, 'suspended', 'k'), [`${kept}*`])
  t.equal(await put(server, 'suspended/k', 'first null'), undefined, 'a write names no null version')
  const copied = await raw('PUT', '/suspended/copy', { headers: copyOf('suspended/k') })
  t.match(copied.headers, { 'x-amz-copy-source-version-id': 'null' })
  t.equal(versionIdOf(copied), undefined)
  await put(server, 'suspended/k', 'second null')
  t.same(await historyOf(server, 'suspended', 'k'), ['null*', kept])
  t.equal((await raw('GET', '/suspended/k?versionId=null')).text, 'second null')
  t.equal((await raw('GET', `/suspended/k?versionId=${kept}`)).text, 'kept')
  const marker = await raw('DELETE', '/suspended/k')
  t.match(marker.headers, { 'x-amz-delete-marker': 'true', 'x-amz-version-id': 'null' })
  t.same(await historyOf(server, 'suspended', 'k'), ['null (marker)*', kept], 'the null version gave way to the marker')
  await remove(server, 'suspended/k')
  t.same(await historyOf(server, 'suspended', 'k'), ['null (marker)*', kept], 'and the marker to another one')
  await put(server, 'suspended/k', 'third null')
  t.same(await historyOf(server, 'suspended', 'k'), ['null*', kept])
  await setVersioning(server, 'suspended', 'enabled')
  const above = await put(server, 'suspended/k', 'above')
  t.same(await historyOf(server, 'suspended', 'k'), [`${above}*`, 'null', kept])
  await setVersioning(server, 'suspended', 'suspended')
  await put(server, 'suspended/k', 'fourth null')
  t.same(await historyOf(server, 'suspended', 'k'), ['null*', `${above}`, kept], 'a null below others is replaced too')
  await remove(server, 'suspended/k', 'null')
  t.same(await historyOf(server, 'suspended', 'k'), [`${above}*`, kept])
  t.equal((await raw('GET', '/suspended/k')).text, 'above')
  await remove(server, 'suspended/new')
  t.same(await historyOf(server, 'suspended', 'new'), ['null (marker)*'], 'also of a key that never was')
})

test('s3-wire 2: a bucket is not empty while a version or a marker is left', async (t) => {
  await createBucket(server, 'left')
  await setVersioning(server, 'left', 'enabled')
  const version = await put(server, 'left/k', 'bytes')
  const marker = await remove(server, 'left/k')
  isError(t, await raw('DELETE', '/left'), 'BucketNotEmpty', 'a version and a marker')
  await remove(server, 'left/k', marker)
  isError(t, await raw('DELETE', '/left'), 'BucketNotEmpty', 'a version')
  const other = await remove(server, 'left/k')
  await remove(server, 'left/k', version)
  t.same(await historyOf(server, 'left', 'k'), [`${other} (marker)*`])
  isError(t, await raw('DELETE', '/left'), 'BucketNotEmpty', 'a marker alone')
  await setVersioning(server, 'left', 'suspended')
  await remove(server, 'left/k')
  await remove(server, 'left/k', other)
  isError(t, await raw('DELETE', '/left'), 'BucketNotEmpty', 'a null marker alone')
  await remove(server, 'left/k', 'null')
  isDone(t, await raw('DELETE', '/left'), 204, 'nothing')
  await createBucket(server, 'left')
  t.notMatch((await raw('GET', '/left?versioning')).text, '<Status>', 'a name used again is another bucket')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
