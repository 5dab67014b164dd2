/** Reads of the log by monitors do not make it longer: one record of a credential, network and hour. */
import { test } from 'tap'
import { type Milliseconds, millisecondsOf } from '../../../engine/brands.ts'
import type { Pairs } from '../../../engine/events/audit.ts'
import { FoldedReads } from '../../../planes/management/checkpoints/folded-reads.ts'
import type { ManagementRequest } from '../../../planes/management/requests/management-request.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { auditOf } from '../../support/commands.ts'
import { startManaged } from '../../support/management-server.ts'

const HOUR = 3_600_000

interface Record {
  readonly operation: string
  readonly result: string
  readonly metadata: { readonly [name: string]: unknown }
}

test('a monitor that reads every tile twice, and looks for the next checkpoint, has a record for each in an hour', async (t) => {
  let now = Date.UTC(2026, 10, 1)
  const server = await startManaged({ clock: () => now })
  t.teardown(() => server.stop())
  const { api, store, paths } = server
  const signing = signingOf({ ...store, paths }, { intervalSeconds: 1, clock: () => now })
  t.teardown(() => signing.close())
  for (let index = 0; index < 300; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
  await signing.settle()
  const targets = ['checkpoint', 'tile/0/000', 'tile/entries/000', 'tile/1/000.p/1']
  const read = async (): Promise<void> => {
    for (const path of [...targets, ...targets]) {
      t.equal((await api.send('GET', `${API}/transparency/${path}`)).status, 200, path)
    }
  }
  const records = async (): Promise<Record[]> => {
    await store.loop.drained()
    const { events } = (await api.get('GET', '/audit/events?limit=1000')) as { events: Record[] }
    return events.filter(({ operation }) => operation.includes('/transparency/'))
  }
  await read()
  const first = await records()
  t.match(
    first.map(({ operation, result, metadata }) => [operation.split('/').at(4), result, metadata['covers_seconds']]),
    [
      ['checkpoint', 'success', 3600],
      ['tile', 'success', 3600],
    ],
  )
  await read()
  t.equal((await records()).length, 2, 'an hour has one of each')
  t.equal((await api.send('GET', `${API}/transparency/tile/0/999`)).status, 404)
  t.match((await records()).at(-1), { result: 'failure', metadata: { status: 404 } }, 'a refusal has its own')
  now += HOUR
  await read()
  const later = (await records()).slice(3)
  t.match(
    later.map(({ metadata }) => metadata['folded_before']),
    [3, 11],
    'the next hour says how many there were',
  )
})

/** What the record of a read says; undefined when it has none. */
function reader(clock: () => Milliseconds): (credentialId: string, remoteAddress: string) => Pairs | undefined {
  const folded = new FoldedReads(clock)
  return (credentialId, remoteAddress) => {
    let said: Pairs | undefined = []
    const journal = {
      note: (...pairs: Pairs) => void (said = pairs),
      leaveUnrecorded: () => void (said = undefined),
    }
    folded.fold('tile', {
      http: { remoteAddress },
      identity: { credentialId },
      journal,
    } as unknown as ManagementRequest)
    return said
  }
}

test('each credential and network by itself, and a clock that goes back covers nothing', (t) => {
  let now = millisecondsOf(10 * HOUR)
  const read = reader(() => now)
  t.same(read('one', '192.0.2.1'), ['covers_seconds', 3600])
  t.equal(read('one', '192.0.2.1'), undefined)
  t.same(read('one', '192.0.2.2'), ['covers_seconds', 3600], 'another address')
  t.same(read('two', '192.0.2.1'), ['covers_seconds', 3600], 'another credential')
  now = millisecondsOf(9 * HOUR)
  t.same(read('one', '192.0.2.1'), ['covers_seconds', 3600, 'folded_before', 1])
  now = millisecondsOf(10 * HOUR - 1)
  t.equal(read('one', '192.0.2.1'), undefined, 'until the hour is over')
  t.end()
})

test('readers without number are recorded as before, and those of an earlier hour make room', (t) => {
  let now = millisecondsOf(0)
  const read = reader(() => now)
  for (let at = 0; at < 256; at += 1) read(`token-${at}`, '192.0.2.1')
  for (const _ of [1, 2]) t.same(read('one-more', '192.0.2.1'), [], 'a record for each read')
  t.equal(read('token-7', '192.0.2.1'), undefined)
  now = millisecondsOf(HOUR)
  t.same(read('one-more', '192.0.2.1'), ['covers_seconds', 3600])
  t.equal(read('one-more', '192.0.2.1'), undefined)
  t.end()
})
