/** A disk that has no room for records: reads go on and are counted, and one record says so when there is room again. */
import { MessageChannel } from 'node:worker_threads'
import { setTimeout as pause } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { microsecondsOf } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import { PortEngineClient } from '../../engine/client/port-client.ts'
import { PortServer } from '../../engine/client/port-server.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { DomainError } from '../../engine/errors.ts'
import { MissedRecords } from '../../engine/records/missed-records.ts'
import { auditOf, createBucket } from '../support/commands.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore, type TestStore } from '../support/test-store.ts'

const GET = auditOf('s3:GET', 'bucket:photos/read')
const BUCKET = createBucket('photos')

/** A store on a disk that the spec fills and empties. */
async function storeOnFullDisk(t: Test): Promise<{ store: TestStore; setFree(bytes: number): Promise<void> }> {
  let availableBytes = 48 * 1024 ** 2
  const disk: Disk = { ...nodeDisk, space: (path) => ({ ...nodeDisk.space(path), availableBytes }) }
  const store = await openTestStore(t.testdir(), {}, disk)
  const setFree = async (bytes: number) => {
    availableBytes = bytes
    store.space.readAgain()
    await pause(120)
    store.loop.checkRoom()
    await pause(5)
  }
  return { store, setFree }
}

function clientOverPort(t: Test, store: TestStore): { client: PortEngineClient; roomChanged(): Promise<void> } {
  const { port1, port2 } = new MessageChannel()
  const client = new PortEngineClient(port1)
  const server = new PortServer(port2, store.loop)
  const timer = setInterval(() => server.flush(), 1)
  t.teardown(() => {
    clearInterval(timer)
    port1.close()
  })
  const roomChanged = async () => {
    server.roomChanged(store.loop.roomFor)
    await pause(20)
  }
  return { client, roomChanged }
}

async function readsGoOn(
  t: Test,
  { store, setFree }: Awaited<ReturnType<typeof storeOnFullDisk>>,
  client: EngineClient,
  roomChanged: () => Promise<void>,
): Promise<void> {
  await client.execute(BUCKET)
  await setFree(0)
  await roomChanged()
  t.equal(store.loop.roomFor, 'nothing')
  for (let reads = 0; reads < 3; reads += 1) t.equal(client.record(GET, 'success'), undefined)
  t.equal(client.record({ ...GET, credentialId: 'AKOTHER' }, 'denied'), undefined)
  t.throws(() => client.record(GET, 'success', undefined, true), new DomainError('journal-full'))
  await t.rejects(client.execute(createBucket('more')), { code: 'journal-full' })
  t.equal(client.recordFailedChange(BUCKET.audit, 'denied', []), undefined)
  await pause(30)
  await setFree(48 * 1024 ** 2)
  await roomChanged()
  t.equal(store.loop.roomFor, 'everything')
  void client.record(GET, 'success')
  await pause(50)
  await store.close(true)
  const found = journalEntries(store.paths.root).filter(({ operation }) => operation !== 'server.start')
  const told = found.filter(({ operation }) => operation === 'requests.unrecorded')
  t.match(
    told.map(({ credentialId, principal, result, details }) => [credentialId, principal, result, details.get('count')]),
    [
      ['AKSPEC', 'service_account:root', 'failure', 4],
      ['AKOTHER', 'service_account:root', 'failure', 1],
    ],
  )
  t.equal(told[0]?.details.get('denied'), 1, 'the change that was denied')
  t.equal(found.filter(({ operation }) => operation === 's3:GET').length, 1, 'the read when there was room')
}

test('reads go on over a port, and are counted', async (t) => {
  const full = await storeOnFullDisk(t)
  const { client, roomChanged } = clientOverPort(t, full.store)
  await readsGoOn(t, full, client, roomChanged)
  t.equal(client.missedTotal, 5)
})

test('reads go on in the same thread, and are counted', async (t) => {
  const full = await storeOnFullDisk(t)
  await readsGoOn(t, full, full.store.client, () => Promise.resolve())
})

test('those who wait for room are answered when there is none for long', async (t) => {
  const full = await storeOnFullDisk(t)
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const client = new PortEngineClient(port1, 1)
  const server = new PortServer(port2, full.store.loop)
  const waiting = client.record(GET, 'success')
  t.type(waiting, Promise)
  await full.setFree(0)
  server.roomChanged(full.store.loop.roomFor)
  await waiting
  await full.setFree(48 * 1024 ** 2)
  await full.store.close(true)
})

test('what is counted at the end of a server is kept for its next start', async (t) => {
  const full = await storeOnFullDisk(t)
  const { client, roomChanged } = clientOverPort(t, full.store)
  await full.setFree(0)
  await roomChanged()
  void client.record(GET, 'success')
  client.flush()
  await pause(30)
  await full.store.close(true)
  const again = await openTestStore(full.store.paths.root)
  await again.close(true)
  const told = journalEntries(again.paths.root).filter(({ operation }) => operation === 'requests.unrecorded')
  t.equal(told.length, 1)
})

test('many credentials share a summary, and a summary names the time', (t) => {
  let now = 1_700_000_000_000_000
  const missed = new MissedRecords(() => microsecondsOf((now += 1_000_000)))
  for (let one = 0; one < 70; one += 1) missed.count({ ...GET, credentialId: `AK${one}` }, 'success')
  const summaries = missed.takeSummaries()
  t.equal(summaries.length, 65)
  t.match(summaries.at(-1), { principal: 'system:audit', credentialId: undefined, resource: 'server' })
  const counts = ['count', 6, 'success', 6, 'denied', 0, 'failure', 0]
  const times = ['first_time', '2023-11-14T22:14:25.000Z', 'last_time', '2023-11-14T22:14:30.000Z']
  t.same(summaries.at(-1)?.metadata, [...counts, ...times])
  t.equal(missed.total, 70)
  t.same(missed.takeSummaries(), [])
  t.end()
})
