/** What a client gets when an object goes between the look into the catalog and the opening of its file. */
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import { startManaged } from '../../support/management-server.ts'
import { someBytes } from '../../support/test-store.ts'

const server = await startManaged({ inlineBytesMaximum: 1000 })
tap.teardown(() => server.stop())
const { raw, api } = server
const [FIRST, SECOND] = [someBytes(100_000), someBytes(50_000)]
await raw('PUT', '/races')

/** Has `change` carried out, and the file removed, when the next large object is about to be opened. */
function beforeNextOpen(change: () => Promise<unknown>): void {
  const { payloads } = server.services
  const open = payloads.openLarge.bind(payloads)
  payloads.openLarge = async (location, start, end) => {
    payloads.openLarge = open
    await change()
    rmSync(server.paths.file(location.name), { force: true })
    return open(location, start, end)
  }
}

test('a GET of an object that is replaced meanwhile gets the new one, with its headers', async (t) => {
  await raw('PUT', '/races/replaced', { body: FIRST, headers: [['content-type', 'text/first']] })
  const put = () => raw('PUT', '/races/replaced', { body: SECOND, headers: [['content-type', 'text/second']] })
  beforeNextOpen(put)
  const { status, headers, body } = await raw('GET', '/races/replaced')
  t.match({ status, headers }, { status: 200, headers: { 'content-type': 'text/second', 'content-length': '50000' } })
  t.ok(body.equals(SECOND))
  t.same(server.failures, [])
})

test('a GET of an object that is deleted meanwhile finds none', async (t) => {
  await raw('PUT', '/races/deleted', { body: FIRST })
  beforeNextOpen(() => raw('DELETE', '/races/deleted'))
  t.match(await raw('GET', '/races/deleted'), { status: 404, code: 'NoSuchKey' })
  t.same(server.failures, [])
})

test('on the management plane a read of what is gone meanwhile is a conflict', async (t) => {
  for (const target of ['/api/v1/buckets/races/object-content/k', '/api/v1/buckets/races/object-preview/k']) {
    await raw('PUT', '/races/k', { body: FIRST })
    beforeNextOpen(() => raw('DELETE', '/races/k'))
    t.match(await api.send('GET', target), { status: 409, code: 'CONFLICT' }, target)
  }
  t.same(server.failures, [])
})

test('a file that is missing while its object is there is damage', async (t) => {
  await raw('PUT', '/races/damaged', { body: FIRST })
  beforeNextOpen(async () => undefined)
  t.match(await raw('GET', '/races/damaged'), { status: 409, code: 'ObjectDamaged' })
  t.match(server.failures, [{ name: 'PayloadDamagedError' }])
  server.failures.length = 0
})
