/**
 * A clock that is set back: what has expired stays expired, and what is made meanwhile can be used (decision 0019).
 * Proves: RES-OBJ-02.
 */
import tap, { test } from 'tap'
import { microsecondsOf, millisecondsOf } from '../../engine/brands.ts'
import { CommitCounts } from '../../projections/catalog/commit-counts.ts'
import { ApiClient, bearer } from '../support/api-client.ts'
import { allow, newIdentity, signingOf } from '../support/identities.ts'
import type { IssuedCredential, IssuedToken } from '../support/management-records.ts'
import { startManaged } from '../support/management-server.ts'
import { startSharing } from '../support/sharing-server.ts'
import { createBucket, put } from '../support/wire-versions.ts'

const START = Date.now()
const HOUR = 3_600_000
let now = START
const clock = () => now
const server = await startManaged({ clock })
const sharing = await startSharing({ clock })
tap.teardown(() => Promise.all([server.stop(), sharing.stop()]))
const { api } = server
await createBucket(server, 'clocks')
await put(server, 'clocks/a', 'bytes')
await sharing.put('a', 'bytes')
const identity = await newIdentity(server, [allow(['s3:GetObject'], 'bucket:clocks/*')])
tap.teardown(() => identity.s3.destroy())

let latest = START

/** Time passes, and the journal has it: the clock is right. */
async function passes(milliseconds: number): Promise<void> {
  latest += milliseconds
  now = latest
  await put(server, 'clocks/later', 'bytes')
  await sharing.put('later', 'bytes')
}

function setBack(): void {
  now = latest - HOUR
}

async function statusOfToken(token: string): Promise<number> {
  const client = ApiClient.of(server.apiEndpoint, bearer(token), () => {})
  const { status } = await client.send('GET', '/api/v1/buckets')
  client.close()
  return status
}

const issueToken = () =>
  api.get<IssuedToken>('POST', '/management-tokens', { name: 'n', role: 'auditor', expires_in_seconds: 60 })
const issueCredential = () =>
  api.get<IssuedCredential>('POST', `/service-accounts/${identity.account.id}/temporary-credentials`, {
    expires_in_seconds: 60,
  })
const read = async (credential: IssuedCredential) =>
  (await server.raw('GET', '/clocks/a', { ...signingOf(credential) })).status

test('the clock of what expires is the later of the host and the journal', (t) => {
  let host = 1000
  const engine = new CommitCounts()
  const reader = new CommitCounts(engine.shared).expiryClock(() => millisecondsOf(host))
  t.equal(reader(), 1000)
  engine.countCommit(microsecondsOf(5_000_999))
  t.equal(reader(), 5000, 'as another thread reads it')
  host = 6000
  t.equal(reader(), 6000)
  host = 0
  engine.countSettings(microsecondsOf(7_000_000))
  t.equal(reader(), 7000)
  t.end()
})

/** Writes an object, and gives the time that it was created. */
async function createdAt(key: string): Promise<number> {
  await put(server, `clocks/${key}`, 'bytes')
  const { created_at: time } = await api.get<{ created_at: string }>('GET', `/buckets/clocks/object/${key}`)
  return Date.parse(time)
}

test('an object has the time of the host when it was written, also where the clock is behind the journal', async (t) => {
  await passes(HOUR)
  t.equal(await createdAt('on-time'), latest)
  setBack()
  t.equal(await createdAt('behind'), latest - HOUR)
})

test('tokens and temporary credentials', async (t) => {
  const [token, credential] = [await issueToken(), await issueCredential()]
  t.same([await statusOfToken(token.token), await read(credential)], [200, 200])
  await passes(HOUR)
  t.same([await statusOfToken(token.token), await read(credential)], [401, 403], 'expired')
  setBack()
  t.same([await statusOfToken(token.token), await read(credential)], [401, 403], 'and still so')
  const { management_tokens: tokens } = await api.get<{ management_tokens: IssuedToken[] }>('GET', '/management-tokens')
  t.match(
    tokens.find(({ id }) => id === token.id),
    { status: 'expired' },
    'a list says what a request is told',
  )

  const [late, lateCredential] = [await issueToken(), await issueCredential()]
  t.same([await statusOfToken(late.token), await read(lateCredential)], [200, 200], 'new ones work')
  t.ok(Date.parse(late.expires_at ?? '') >= latest + 60_000, 'and expire a minute after the last entry')
  t.ok(Date.parse(late.expires_at ?? '') >= Date.parse(late.created_at), 'which is not before they were made')
  await passes(60_001)
  t.same([await statusOfToken(late.token), await read(lateCredential)], [401, 403])
})

test('download tickets', async (t) => {
  const path = '/buckets/clocks/object-download/a'
  const nobody = ApiClient.of(server.apiEndpoint, '', () => {})
  t.teardown(() => nobody.close())
  const issue = () => api.get<{ path: string }>('POST', path)
  const first = await issue()
  await passes(HOUR)
  setBack()
  t.equal((await nobody.send('GET', first.path)).status, 404, 'expired')
  t.equal((await nobody.send('GET', (await issue()).path)).status, 200, 'a new one works')
})

test('shares, embeds and tickets of shares', async (t) => {
  await passes(0)
  const expiresMicroseconds = microsecondsOf((now + 60_000) * 1000)
  const share = await sharing.share('a', { expiresMicroseconds })
  const embed = await sharing.embed('a', { expiresMicroseconds })
  const locked = await sharing.share('a', { password: 'a password' })
  const unlock = async () => {
    const body = JSON.stringify({ password: 'a password' })
    const { text } = await sharing.ask(
      'POST',
      `/s/${locked.token}/unlock`,
      { 'content-type': 'application/json' },
      body,
    )
    return (JSON.parse(text) as { ticket: string }).ticket
  }
  const ticket = await unlock()
  const statuses = async (shown: string) => [
    (await sharing.ask('GET', `/s/${share.token}/content`)).status,
    (await sharing.askEmbed('GET', `/e/${embed.token}`)).status,
    (await sharing.ask('GET', `/s/${locked.token}/content`, { 'x-share-ticket': shown })).status,
  ]
  t.same(await statuses(ticket), [200, 200, 200])
  await passes(HOUR)
  t.same(await statuses(ticket), [410, 410, 401])
  setBack()
  t.same(await statuses(ticket), [410, 410, 401])
  t.equal((await statuses(await unlock()))[2], 200, 'a new ticket opens')
})

test('links that are made while the clock is behind, and what lists say of them', async (t) => {
  await passes(HOUR)
  setBack()
  for (const [path, list] of [
    ['/buckets/clocks/object-shares/a', 'shares'],
    ['/buckets/clocks/object-embeds/a', 'embeds'],
  ] as const) {
    const sent = { expires_in_seconds: 60, ...(list === 'embeds' && { allowed_origins: ['*'] }) }
    await api.get('POST', path, sent)
    const statuses = async () => {
      const page = await api.get<Record<string, { status: string }[]>>('GET', path)
      return page[list]?.map(({ status }) => status)
    }
    t.same(await statuses(), ['active'], list)
    await passes(61_000)
    setBack()
    t.same(await statuses(), ['expired'], list)
  }
})
