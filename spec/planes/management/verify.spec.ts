/**
 * Verification over HTTP: only damage is damage, a bucket is read whole, and nobody verifies for nobody.
 * Proves: DO-CAP-23, API-INT-01, API-INT-02.
 */
import { EventEmitter, once } from 'node:events'
import { rmSync, symlinkSync } from 'node:fs'
import { request } from 'node:http'
import tap, { test } from 'tap'
import { DescriptorsExhaustedError } from '../../../engine/disk/disk.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import type { ApiAnswer } from '../../support/api-client.ts'
import { bearer } from '../../support/api-client.ts'
import { flipByte } from '../../support/journal-files.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'
import { payloadFileNames } from '../../support/multipart.ts'

const server = await startManaged({ inlineBytesMaximum: 1000 })
tap.teardown(() => server.stop())
const { api, apiEndpoint, exchanges, failures, paths } = server
const { payloads } = server.services
const LARGE = 'b'.repeat(5000)

async function putFile(bucket: string, key: string): Promise<{ readonly path: string; readonly versionId: string }> {
  const before = payloadFileNames(paths)
  const answer = await api.send('PUT', `${API}/buckets/${bucket}/object/${key}`, { raw: LARGE })
  const [name = ''] = payloadFileNames(paths).filter((one) => !before.includes(one))
  return { path: paths.file(name), versionId: (answer.json as { version_id: string }).version_id }
}

function verifyBucket(bucket: string, query = ''): Promise<ApiAnswer> {
  return api.call('POST', `/verify/buckets/${bucket}${query}`)
}

test('every version of every page is read, and only current ones where that is asked for', async (t) => {
  await api.get('POST', '/buckets', { name: 'many' })
  await api.get('PUT', '/buckets/many/versioning', { status: 'Enabled' })
  for (let index = 0; index < 120; index += 1) {
    await api.send('PUT', `${API}/buckets/many/object/${String(index).padStart(3, '0')}`, { raw: 'x' })
  }
  const old = await putFile('many', 'old')
  await api.send('PUT', `${API}/buckets/many/object/old`, { raw: 'newer' })
  await api.call('DELETE', '/buckets/many/object/005')
  flipByte(old.path, 2000)
  t.match((await verifyBucket('many')).json, {
    examined: 122,
    verified: 121,
    damaged: 1,
    damaged_objects: [{ key: 'old', version_id: old.versionId }],
    complete: true,
    next_after: null,
    error: null,
  })
  t.match((await verifyBucket('many', '?versions=current')).json, { examined: 120, verified: 120, complete: true })
  const part = { examined: 121, damaged: 0, complete: false, next_after: 'old' }
  t.match((await verifyBucket('many', '?maximum_entries=121')).json, part)
  const { next_after_version_id: id } = (await verifyBucket('many', '?maximum_entries=121')).json as Record<
    string,
    string
  >
  const rest = await verifyBucket('many', `?after=old&after_version_id=${id}`)
  t.match(rest.json, { examined: 1, damaged: 1, complete: true }, 'it goes on within a key')
  t.equal((await verifyBucket('many', '?after_version_id=null')).code, 'INVALID_REQUEST')
})

test('what cannot be read for another reason than damage is an error that names the object', async (t) => {
  await api.get('POST', '/buckets', { name: 'unreadable' })
  const { path } = await putFile('unreadable', 'intact')
  // The system refuses to open a link to itself, and says nothing of the bytes.
  rmSync(path)
  symlinkSync(path, path)
  for (const target of ['/verify/objects/unreadable/intact', '/verify/buckets/unreadable']) {
    failures.length = 0
    const answer = await api.call('POST', target)
    t.match(answer, { status: 500, code: 'INTERNAL_ERROR', message: /unreadable\/intact \(version null\)/ }, target)
    t.match(failures, [{ name: 'UnreadableVersionError', cause: { code: 'ELOOP' } }], `${target} is logged`)
  }
  const open = payloads.openLarge
  payloads.openLarge = () => Promise.reject(new DescriptorsExhaustedError('EMFILE: too many open files'))
  for (const target of ['/verify/objects/unreadable/intact', '/verify/buckets/unreadable']) {
    t.match(await api.call('POST', target), { status: 503, code: 'SLOW_DOWN' }, target)
  }
  payloads.openLarge = open
  rmSync(path)
  t.match(await api.get('POST', '/verify/objects/unreadable/intact'), { status: 'damaged' }, 'a missing file is damage')
  failures.length = 0
})

/** Has reads of large objects wait until they are released; `opened` counts all. */
function held(): { opened: number; readonly release: () => void; readonly restore: () => void } {
  const open = payloads.openLarge.bind(payloads)
  const released = new EventEmitter()
  const restore = () => {
    payloads.openLarge = open
  }
  let isHeld = true
  const release = () => {
    isHeld = false
    released.emit('now')
  }
  const gate = { opened: 0, release, restore }
  payloads.openLarge = async (...place) => {
    gate.opened += 1
    if (isHeld) await once(released, 'now')
    return open(...place)
  }
  return gate
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

test('a bucket is verified once at a time, and no longer than somebody waits', async (t) => {
  await api.get('POST', '/buckets', { name: 'busy' })
  for (const key of ['a', 'b', 'c']) await putFile('busy', key)
  const gate = held()
  const first = verifyBucket('busy')
  await until(() => gate.opened === 1)
  t.match(await verifyBucket('busy'), { status: 409, code: 'VERIFICATION_RUNNING' })
  gate.release()
  t.match(await first, { status: 200, json: { examined: 3, verified: 3, complete: true } })
  gate.restore()
  const next = held()
  const left = request(`${apiEndpoint}${API}/verify/buckets/busy`, {
    method: 'POST',
    headers: { authorization: bearer(SYSTEM_TOKEN), 'content-length': '0' },
  })
  left.on('error', () => undefined)
  left.end()
  await until(() => next.opened === 1)
  const before = exchanges.length
  left.destroy()
  await new Promise((resolve) => left.on('close', resolve))
  // The server has seen it when it has answered a request that came after it.
  await api.call('GET', '/auth/session')
  next.release()
  await until(() => exchanges.length > before + 1)
  t.equal(next.opened, 1, 'the other objects were not read')
  next.restore()
  t.match(await verifyBucket('busy'), { json: { examined: 3, complete: true } }, 'the bucket is free again')
})

test('an object is looked up when its turn to be verified has come', async (t) => {
  await api.get('POST', '/buckets', { name: 'turns' })
  for (const key of ['a', 'b', 'gone']) await putFile('turns', key)
  const gate = held()
  const running = ['a', 'a', 'a', 'a'].map((key) => api.call('POST', `/verify/objects/turns/${key}`))
  await until(() => gate.opened === 4)
  const waiting = ['b', 'gone'].map((key) => api.call('POST', `/verify/objects/turns/${key}`))
  await api.get('DELETE', '/buckets/turns/object/gone')
  gate.release()
  for (const { status } of await Promise.all(running)) t.equal(status, 200)
  t.match(await Promise.all(waiting), [
    { status: 200, json: { key: 'b', status: 'verified' } },
    { status: 404, code: 'OBJECT_NOT_FOUND' },
  ])
  gate.restore()
})

test('a verification that fails after its answer has begun says how far it came', async (t) => {
  await api.get('POST', '/buckets', { name: 'later' })
  for (const key of ['a', 'b', 'c']) await putFile('later', key)
  const open = payloads.openLarge.bind(payloads)
  let opened = 0
  payloads.openLarge = async (...place) => {
    opened += 1
    if (opened === 3) throw new DescriptorsExhaustedError('EMFILE: too many open files')
    // Longer than the server waits before it begins to answer.
    if (opened === 1) await new Promise((resolve) => setTimeout(resolve, 2100))
    return open(...place)
  }
  failures.length = 0
  const answer = await verifyBucket('later')
  payloads.openLarge = open
  t.equal(answer.status, 200)
  t.match(answer.json, { progress: [{ damaged: 0 }], examined: 2, verified: 2, complete: false, next_after: 'b' })
  t.match(answer.json, { error: { code: 'SLOW_DOWN', message: /later\/c \(version null\)/ } })
  t.match(failures, [{ name: 'UnreadableVersionError' }])
  failures.length = 0
  const rest = await verifyBucket('later', '?after=b&after_version_id=null')
  t.match(rest.json, { examined: 1, complete: true, error: null })
})

test('no answer was another one than the document says', async (t) => {
  t.same(server.undocumented, [])
})
