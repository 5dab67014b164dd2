/** Requests without valid credentials: what they may write to the journal, and what is counted in its place. */
import { test } from 'tap'
import type { AuditContext } from '../../../engine/events/audit.ts'
import { FaultDisk } from '../../support/disks/fault-disk.ts'
import { type JournalEntry, journalEntries } from '../../support/journal-entries.ts'
import { openTestStore, type TestStore } from '../../support/test-store.ts'

const START_MICROSECONDS = 1_700_000_000_000_000
const BYTES_PER_SECOND = 10_000
const REQUESTS = 2000

function refusalOf(sourceAddress: string): AuditContext {
  const asked = { operation: 's3:GET', resource: 'bucket:b/key', metadata: ['status', 403, 'error', 'AccessDenied'] }
  return { principal: 'anonymous', credentialId: undefined, sourceAddress, requestId: 'R1', ...asked }
}

function refuse(store: TestStore, count: number, addressOf: (index: number) => string = () => '192.0.2.1'): void {
  for (let index = 0; index < count; index += 1) store.client.record(refusalOf(addressOf(index)), 'denied')
}

const isSummary = ({ operation }: JournalEntry): boolean => operation === 'requests.counted'

/** The single records and the summaries of strangers. */
function entriesOf(store: TestStore): { single: JournalEntry[]; summaries: JournalEntry[] } {
  const all = journalEntries(store.paths.root, store.disk).filter(({ principal }) => principal === 'anonymous')
  return { single: all.filter((entry) => !isSummary(entry)), summaries: all.filter(isSummary) }
}

const total = (entries: readonly JournalEntry[]) =>
  entries.reduce((sum, { details }) => sum + Number(details.get('count')), 0)

test('refusals of strangers have a record each while the budget lasts, and are counted for each address after it', async (t) => {
  let now = START_MICROSECONDS
  const options = { segmentBytes: 1 << 20, strangerBytesPerSecond: BYTES_PER_SECOND, clock: () => now }
  const store = await openTestStore(t.testdir(), options)
  const before = store.journal.statistics.bytes
  refuse(store, REQUESTS, (index) => `192.0.2.${index % 2}`)
  await store.loop.drained()
  const written = store.journal.statistics.bytes - before
  t.ok(written > BYTES_PER_SECOND * 15 && written < BYTES_PER_SECOND * 17 + 1000, `${written} bytes were written`)
  const { single, summaries } = entriesOf(store)
  t.same(new Set(summaries.map(({ sourceAddress }) => sourceAddress)), new Set(['192.0.2.0', '192.0.2.1']))
  t.equal(single.length + total(summaries), REQUESTS, 'every request is in the journal, alone or counted')
  t.equal(store.strangers.countedTotal, total(summaries))
  t.match(summaries[0], {
    resource: 'server',
    result: 'denied',
    details: new Map<string, unknown>([
      ['first_time', '2023-11-14T22:13:20.000Z'],
      ['last_time', '2023-11-14T22:13:20.000Z'],
    ]),
  })

  now += 1_000_000
  refuse(store, REQUESTS)
  store.client.record({ ...refusalOf('192.0.2.1'), credentialId: 'cred-1', principal: 'service_account:a' }, 'denied')
  await store.loop.drained()
  const more = entriesOf(store).single.length - single.length
  t.ok(more > 10 && more < BYTES_PER_SECOND / 160, `a second later ${more} more have a record`)
  t.equal(
    journalEntries(store.paths.root, store.disk).filter(({ credentialId }) => credentialId === 'cred-1').length,
    1,
  )
  await store.close(true)
})

test('addresses beyond a bound share one summary', async (t) => {
  const store = await openTestStore(t.testdir(), { strangerBytesPerSecond: 1, clock: () => START_MICROSECONDS })
  refuse(store, REQUESTS, (index) => `2001:db8::${index.toString(16)}`)
  await store.loop.drained()
  const { summaries } = entriesOf(store)
  t.equal(summaries.length, 65)
  t.equal(total(summaries), REQUESTS)
  t.equal(total(summaries.filter(({ sourceAddress }) => sourceAddress === undefined)), REQUESTS - 64)
  await store.close(true)
})

test('when the disk is down to its reserve no stranger has a record, and all of them share one summary', async (t) => {
  const disk = new FaultDisk()
  const store = await openTestStore(t.testdir(), { reservedBytes: 2 ** 40 }, disk)
  refuse(store, REQUESTS, (index) => `192.0.2.${index % 200}`)
  await store.loop.drained()
  const { single, summaries } = entriesOf(store)
  t.same([single.length, summaries.length, total(summaries)], [0, 1, REQUESTS])
  await store.close(true)
})
