/**
 * What a version id tells, and how it is spelled; spec/answers and the model of the store have the rest.
 * Proves: RES-OBJ-03.
 */
import tap, { test } from 'tap'
import { startInThread } from '../../../support/test-server.ts'
import { isError } from '../../../support/wire-assertions.ts'
import { createBucket, put, setVersioning } from '../../../support/wire-versions.ts'

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

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
