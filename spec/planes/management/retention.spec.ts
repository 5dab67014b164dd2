/**
 * The retention report over the wire, held against what was locked over S3.
 * Proves: DO-CAP-22, RES-REP-01, RES-REP-02, RES-REP-03, RES-REP-04, RES-REP-05, RES-REP-06, RES-REP-07, API-AUD-13,
 * AUT-MGT-06.
 */
import tap, { test } from 'tap'
import { bearer } from '../../support/api-client.ts'
import { startManaged } from '../../support/management-server.ts'
import { createLockBucket, DAY, later, lockLines, setDefaultRetention, setLegalHold } from '../../support/wire-locks.ts'

// The time of the journal never goes back: a clock of a spec begins where that of the host is.
let now = Date.now()
const server = await startManaged({ clock: () => now })
tap.teardown(() => server.stop())
const { api } = server

interface Report {
  readonly generated_at: string
  readonly buckets: readonly { readonly bucket: string; readonly default_retention: unknown }[]
  readonly versions: readonly {
    readonly bucket: string
    readonly key: string
    readonly version_id: string
    readonly retention_mode: string | null
    readonly retain_until: string | null
    readonly legal_hold: boolean
    readonly status: string
  }[]
  readonly held_count: number
  readonly held_total: number | null
  readonly truncated: boolean
  readonly next_after: string | null
}

function report(query: Readonly<Record<string, string>> = {}): Promise<Report> {
  return api.get('GET', `/reports/retention?${new URLSearchParams(query)}`)
}

async function put(target: string, lock: Parameters<typeof lockLines>[0]): Promise<string> {
  const answer = await server.raw('PUT', `/${target}`, { body: target, headers: lockLines(lock) })
  if (answer.status !== 200) throw new Error(answer.text)
  return String(answer.headers['x-amz-version-id'])
}

const SOON = later(DAY, now)
const LATE = later(30 * DAY, now)

await createLockBucket(server, 'first-locked')
await createLockBucket(server, 'second-locked')
await api.get('POST', '/buckets', { name: 'never-locked' })
await setDefaultRetention(server, 'second-locked', '<Mode>COMPLIANCE</Mode><Years>2</Years>')
const governed = await put('first-locked/b', { mode: 'GOVERNANCE', until: SOON })
const replaced = await put('first-locked/a', { mode: 'COMPLIANCE', until: LATE })
const current = await put('first-locked/a', { mode: 'GOVERNANCE', until: SOON, hold: 'ON' })
const held = await put('first-locked/c', { hold: 'ON' })
const released = await put('first-locked/d', { hold: 'ON' })
await setLegalHold(server, 'first-locked/d', 'OFF')
await put('first-locked/free', {})
const standard = await put('second-locked/key', {})

const LOCKED = [
  ['first-locked', 'a', current, 'GOVERNANCE', SOON, true],
  ['first-locked', 'a', replaced, 'COMPLIANCE', LATE, false],
  ['first-locked', 'b', governed, 'GOVERNANCE', SOON, false],
  ['first-locked', 'c', held, null, null, true],
  ['first-locked', 'd', released, null, null, false],
] as const

function rows({ versions }: Report): unknown[] {
  return versions.map(({ bucket, key, version_id, retention_mode, retain_until, legal_hold }) => [
    bucket,
    key,
    version_id,
    retention_mode,
    retain_until,
    legal_hold,
  ])
}

function statuses({ versions }: Report): string[] {
  return versions.map(({ status }) => status)
}

test('every lock record, held or elapsed', async (t) => {
  const all = await report()
  t.equal(all.generated_at, new Date(now).toISOString().replace('Z', '000Z'))
  t.same(all.buckets, [
    { bucket: 'first-locked', default_retention: null },
    {
      bucket: 'second-locked',
      default_retention: { mode: 'COMPLIANCE', period: { unit: 'days', value: 730 } },
    },
  ])
  t.same(rows(all).slice(0, LOCKED.length), LOCKED)
  t.match(all.versions[LOCKED.length], {
    bucket: 'second-locked',
    key: 'key',
    version_id: standard,
    retention_mode: 'COMPLIANCE',
    status: 'held',
  })
  t.same(statuses(all), ['held', 'held', 'held', 'held', 'elapsed', 'held'])
  t.match(all, { held_count: 5, truncated: false })
})

test('more than are looked at in one turn', async (t) => {
  const keys = Array.from({ length: 1100 }, (_, index) => `many/${String(index).padStart(4, '0')}`)
  for (let at = 0; at < keys.length; at += 50) {
    await Promise.all(keys.slice(at, at + 50).map((key) => put(`second-locked/${key}`, { hold: 'ON' })))
  }
  const all = await report({ bucket: 'second-locked' })
  t.same(
    all.versions.map(({ key }) => key),
    ['key', ...keys],
  )
  t.match(all, { held_count: 1101, held_total: 1101 })
  const page = await report({ bucket: 'second-locked', limit: '1' })
  t.match(page, { held_count: 1, held_total: 1101, truncated: true }, 'the total is that of all pages')
  const next = await report({ bucket: 'second-locked', limit: '1', after: String(page.next_after) })
  t.match(next, { held_count: 1, held_total: null }, 'and only the first page counts it')
})

test('the default of a bucket is set by a storage administrator, and not by an auditor', async (t) => {
  const body = { default_retention: { mode: 'COMPLIANCE', period: { unit: 'years', value: 2 } } }
  const set = async (role: string) => {
    const { token } = await api.get<{ token: string }>('POST', '/management-tokens', { name: role, role })
    return (await api.as(bearer(token)).call('PUT', '/buckets/second-locked/default-retention', body)).status
  }
  t.same([await set('auditor'), await set('storage-administrator')], [403, 200])
})

// The last test: time goes on for all that follow.
test('what has elapsed is still listed', async (t) => {
  now += 2 * DAY
  const all = await report({ bucket: 'first-locked' })
  t.same(statuses(all), ['held', 'held', 'elapsed', 'held', 'elapsed'])
  t.equal(all.held_count, 3)
  now += 40 * DAY
  t.same(statuses(await report({ bucket: 'first-locked' })), ['held', 'elapsed', 'elapsed', 'held', 'elapsed'])
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})

test('a report goes on from the cursor of the one before', async (t) => {
  const whole = await report()
  t.equal(whole.next_after, null)
  const versions: unknown[] = []
  for (let after: string | null = ''; after !== null; ) {
    const page: Report = await report({ limit: '2', ...(after === '' ? {} : { after }) })
    versions.push(...page.versions)
    after = page.next_after
  }
  t.same(versions, whole.versions)
})

test('a cursor is opaque, and a text that no report gave is refused', async (t) => {
  const { next_after: after } = await report({ limit: '1', bucket: 'first-locked' })
  if (after === null) throw new Error('one lock only')
  t.match(after, /^[A-Za-z0-9_-]{46,}$/)
  const other = [...after].toSpliced(5, 1, after[5] === 'A' ? 'B' : 'A').join('')
  for (const wrong of [
    '',
    'xyz',
    'ff'.repeat(1978),
    other,
    `${after}=`,
    `${after}!`,
    after.slice(0, 44),
    after.slice(1),
  ]) {
    const answer = await api.call('GET', `/reports/retention?after=${encodeURIComponent(wrong)}`)
    t.match(answer, { status: 400, code: 'INVALID_REQUEST' }, wrong)
  }
  const elsewhere = await api.call('GET', `/reports/retention?bucket=second-locked&after=${after}`)
  t.match(elsewhere, { status: 400, code: 'INVALID_REQUEST' }, 'of a report on another bucket')
  t.same(
    (await report({ after })).versions,
    (await report()).versions.slice(1),
    'a report on all buckets goes on there',
  )
})

test('a cursor holds when its version is gone', async (t) => {
  const first = await report({ limit: '4', bucket: 'first-locked' })
  await setLegalHold(server, 'first-locked/c', 'OFF')
  const gone = await server.raw('DELETE', `/first-locked/c?versionId=${held}`)
  t.equal(gone.status, 204)
  t.equal(first.versions.at(-1)?.version_id, held)
  const rest = await report({ bucket: 'first-locked', after: first.next_after ?? '' })
  t.same(
    rest.versions.map(({ version_id }) => version_id),
    [released],
  )
  t.same(server.undocumented, [])
})
