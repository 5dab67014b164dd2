/**
 * Pages of storage events over the wire: filters, cursors, bad parameters, and what writes at the same time.
 * Proves: RES-EVT-03, API-EVT-01, API-EVT-02, API-EVT-03, EVT-GUA-03, ERR-MGT-04.
 */
import tap, { test } from 'tap'
import { startManaged } from '../../support/management-server.ts'
import { allEvents, eventPage } from '../../support/storage-events.ts'
import { createBucket, put } from '../../support/wire-versions.ts'

const server = await startManaged({ segmentBytes: 64 * 1024 })
tap.teardown(() => server.stop())
const { api } = server
const KEYS = Array.from({ length: 60 }, (_, index) => `${index % 2 === 0 ? 'even' : 'odd'}/${index}`)

await createBucket(server, 'first')
await createBucket(server, 'second')
for (const key of KEYS) {
  await put(server, `first/${key}`, 'x')
  // Records of reads fill whole blocks of the index.
  if (key.endsWith('9')) await Promise.all(KEYS.map((each) => server.raw('GET', `/first/${each}`)))
}
await put(server, 'second/even/0', 'x')
await server.journal()

test('all of them, once each, by pages of any length', async (t) => {
  const whole = await allEvents(api, { limit: '1000' })
  t.equal(whole.length, KEYS.length + 3)
  t.same(
    whole.filter(({ bucket, object }) => bucket === 'first' && object !== undefined).map(({ object }) => object),
    KEYS,
  )
  const ids = whole.map(({ id }) => id)
  t.same(ids, ids.toSorted(), 'ids ascend')
  t.same(
    whole.map(({ time }) => time),
    whole.map(({ time }) => time).toSorted(),
    'and times with them',
  )
  for (const limit of ['1', '7', '62', '63', '64']) t.same(await allEvents(api, { limit }), whole, `pages of ${limit}`)
})

async function keysOf(query: Readonly<Record<string, string>>): Promise<string[]> {
  return (await allEvents(api, { limit: '5', ...query })).map(({ bucket, object }) => `${bucket}/${object ?? ''}`)
}

test('filters', async (t) => {
  t.same(await keysOf({ bucket: 'second' }), ['second/', 'second/even/0'])
  t.same(await keysOf({ type: 'bucket.created' }), ['first/', 'second/'])
  t.same(await keysOf({ bucket: 'none-such' }), [])
  t.same(
    await keysOf({ prefix: 'even/1', bucket: 'first' }),
    ['10', '12', '14', '16', '18'].map((each) => `first/even/${each}`),
  )
  t.same(await keysOf({ prefix: 'even/0' }), ['first/even/0', 'second/even/0'])
  t.same(await keysOf({ type: 'object.updated' }), [])
  t.same(await keysOf({ type: 'object.created', bucket: 'second', prefix: 'odd' }), [])
})

test('times: the first is included, the second is not', async (t) => {
  const whole = await allEvents(api)
  const [from, to] = [whole[20]?.time ?? '', whole[40]?.time ?? '']
  const expected = whole.filter(({ time }) => time >= from && time < to)
  t.same(await allEvents(api, { since: from, until: to, limit: '3' }), expected)
  t.same(
    await allEvents(api, { since: from }),
    whole.filter(({ time }) => time >= from),
  )
  t.same(
    await allEvents(api, { until: from }),
    whole.filter(({ time }) => time < from),
  )
  t.same(await allEvents(api, { since: to, until: from }), [])
  t.same(await allEvents(api, { since: '2100-01-01T00:00:00Z' }), [])
})

test('the answer says where events begin and where they end', async (t) => {
  const page = await eventPage(api, { limit: '1' })
  t.match(page, { begin_id: /^\d{16}-0000$/, scan_truncated: false, damaged: false, next_id: page.events[0]?.id })
  t.ok((page.begin_id ?? '') < (page.events[0]?.id ?? ''))
  t.ok((page.begin_time ?? '') <= (page.events[0]?.time ?? ''))
  const none = await eventPage(api, { after_time: page.head_time, after_id: page.head_id })
  t.match(none, { events: [], next_time: null, next_id: null })
  await put(server, 'second/later', 'x')
  const later = await eventPage(api, { after_time: page.head_time, after_id: page.head_id })
  t.match(later.events, [{ object: 'later' }])
})

test('what writes at the same time comes after the cursor, and none is skipped or repeated', async (t) => {
  const start = await eventPage(api, { limit: '1' })
  let [time, id] = [start.head_time, start.head_id]
  const seen: string[] = []
  let writing = true
  const writers = Promise.all(
    [0, 1, 2, 3].map(async (writer) => {
      for (let index = 0; index < 25; index += 1) await put(server, `second/w${writer}-${index}`, 'x')
    }),
  ).finally(() => {
    writing = false
  })
  for (let isLast = false; !isLast; ) {
    isLast = !writing
    const page = await eventPage(api, { after_time: time, after_id: id, limit: '3', bucket: 'second' })
    seen.push(...page.events.map(({ object }) => object ?? ''))
    if (page.next_id !== null) isLast = false
    ;[time, id] = [page.next_time ?? page.head_time, page.next_id ?? page.head_id]
  }
  await writers
  const written = [0, 1, 2, 3].flatMap((writer) => Array.from({ length: 25 }, (_, index) => `w${writer}-${index}`))
  t.equal(seen.length, written.length)
  t.same(seen.toSorted(), written.toSorted())
})

test('bad parameters', async (t) => {
  const refused = ['after_time=2026-01-01T00:00:00Z', 'after_id=0000000000000001-0000']
  for (const query of refused)
    t.match(await api.call('GET', `/events?${query}`), { status: 400, code: 'INVALID_EVENT_CURSOR' }, query)
  const invalid = [
    'limit=0',
    'limit=1001',
    'limit=x',
    'type=object.read',
    'since=yesterday',
    'until=2026-13-01T00:00:00Z',
    'after_time=now&after_id=0000000000000001-0000',
    'after_time=2026-01-01T00:00:00Z&after_id=0000000000000001',
    'after_time=2026-01-01T00:00:00Z&after_id=9999999999999999-0000',
    'bucket=a&bucket=b',
    'order=desc',
  ]
  for (const query of invalid)
    t.match(await api.call('GET', `/events?${query}`), { status: 400, code: 'INVALID_REQUEST' }, query)
  t.match(await api.as(undefined).call('GET', '/events'), { status: 401 })
})

test('who read events is recorded', async (t) => {
  await api.call('GET', '/events?bucket=first')
  await server.journal()
  const { events } = await api.get<{ events: object[] }>(
    'GET',
    '/audit/events?order=desc&limit=1&operation=GET%20/api/v1/events',
  )
  t.match(events, [{ operation: 'GET /api/v1/events', result: 'success', metadata: { status: 200 } }])
})
