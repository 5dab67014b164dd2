/** Trees of checkpoints that are damaged on the disk, over the wire: an error of their own, all else is answered, and they come back. */
import { join } from 'node:path'
import tap, { test } from 'tap'
import { isSignedBy, readCheckpointNote, readVerifierKey } from '../../../engine/checkpoints/checkpoint-note.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { treesIn } from '../../../projections/checkpoints/tree-files.ts'
import { run } from '../../cli/command-runner.ts'
import { signingOf, type TestSigning } from '../../support/checkpoint-signing.ts'
import { auditOf } from '../../support/commands.ts'
import { flipByteInPlace } from '../../support/journal-files.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'

let signing: TestSigning | undefined
const server = await startManaged({ mend: (size) => signing?.worker.mend(size) })
tap.teardown(() => server.stop())
const { api, store, paths, slots } = server
signing = signingOf({ ...server.store, paths })
tap.teardown(() => signing?.close())
for (let index = 0; index < 600; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
await store.loop.drained()
await signing.settle()

const file = (name: string) => join(treesIn(paths.projections), name)
const statusOf = async (path: string) => (await api.send('GET', `${API}/transparency/${path}`)).status
const damaged = () => slots.region(0)[slots.damageSlot('trees')] ?? 0

test('what the damage is in is 503 with its own code, all else is answered, and then that is answered too', async (t) => {
  flipByteInPlace(file('record-hashes'), 10 * 32)
  const answer = await api.call('GET', '/transparency/proof/inclusion?sequence=10')
  t.match(answer, { status: 503, code: 'TREES_DAMAGED' })
  t.match(answer.json, { error: { message: /derived again from the journal: try again.*journal verify/ } })
  t.equal(await statusOf('tile/0/000'), 503)
  t.equal(damaged(), 2, 'the metric counts both')
  for (const path of [
    'checkpoint',
    'checkpoints',
    'key',
    'receipts',
    'proof/inclusion?sequence=300',
    'tile/0/001',
    'tile/1/000.p/2',
  ]) {
    t.equal(await statusOf(path), 200, path)
  }
  const note = readCheckpointNote((await api.send('GET', `${API}/transparency/checkpoint`)).body.toString())
  const key = (await api.send('GET', `${API}/transparency/key`)).body.toString().trim()
  t.ok(isSignedBy(note, readVerifierKey(key)))
  await signing?.settle()
  for (const path of ['proof/inclusion?sequence=10', 'tile/0/000']) t.equal(await statusOf(path), 200, path)
  t.match(signing?.mended, [{ hashes: 1, failure: undefined }])
})

test('a request that met damage is on record as a failure', async (t) => {
  flipByteInPlace(file('log-1'), 0)
  const id = 'damaged-tile-request'
  await api.send('GET', `${API}/transparency/tile/1/000.p/2`, { headers: [['x-request-id', id]] })
  await server.journal()
  const page = await api.get<{ events: { operation: string; result: string }[] }>(
    'GET',
    `/audit/events?request_id=${id}`,
  )
  t.same(
    page.events.map(({ result }) => result),
    ['failure'],
  )
  await signing?.settle()
})

test('a command that meets it ends with 25, and goes on where it was once they are derived again', async (t) => {
  const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
  const log = join(t.testdir(), 'log')
  flipByteInPlace(file('record-hashes'), 300 * 32)
  t.match(await run(['checkpoint', 'export', log], { environment }), {
    exitCode: 25,
    stderr: /TREES_DAMAGED|derived again/,
  })
  await signing?.settle()
  t.match(await run(['checkpoint', 'export', log], { environment }), { exitCode: 0 })
})
