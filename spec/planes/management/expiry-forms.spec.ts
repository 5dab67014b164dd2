/** The two ways to say when something expires, everywhere, and the passwords of links. */
import tap, { test } from 'tap'
import { startManaged } from '../../support/management-server.ts'

const NOW = Date.now()
const server = await startManaged({ clock: () => NOW })
tap.teardown(() => server.stop())
const { api } = server
await api.get('POST', '/buckets', { name: 'expiring' })
await api.send('PUT', '/api/v1/buckets/expiring/object/a', { raw: 'x' })
const { account } = await api.get<{ account: { id: string } }>('POST', '/service-accounts', { name: 'expiring' })
const { id: embed } = await api.get<{ id: string }>('POST', '/buckets/expiring/object-embeds/a', {
  allowed_origins: ['*'],
})

const YEAR = 365 * 24 * 60 * 60

/** Requests that take an expiry; the longest lifetime in seconds, and whether it may be absent. */
const REQUESTS = [
  ['POST', '/buckets/expiring/object-shares/a', {}, 10 * YEAR, true],
  ['POST', '/buckets/expiring/object-embeds/a', { allowed_origins: ['*'] }, 10 * YEAR, true],
  ['PATCH', `/embeds/${embed}`, {}, 10 * YEAR, true],
  ['POST', '/management-tokens', { name: 't', role: 'auditor' }, YEAR, true],
  ['POST', `/service-accounts/${account.id}/temporary-credentials`, {}, YEAR, false],
] as const

function after(seconds: number): string {
  return new Date(NOW + seconds * 1000).toISOString()
}

test('an expiry is a time or a number of seconds, in the same bounds', async (t) => {
  for (const [method, path, rest, maximum, mayBeAbsent] of REQUESTS) {
    for (const seconds of [60, maximum]) {
      const made = await api.get<{ expires_at: string }>(method, path, { ...rest, expires_at: after(seconds) })
      t.equal(Date.parse(made.expires_at), NOW + seconds * 1000, `${method} ${path} ${seconds}`)
    }
    const zoned = after(3600).replace('Z', '+00:00')
    t.equal((await api.call(method, path, { ...rest, expires_at: zoned })).status < 300, true, 'with another zone')
    for (const [expiry, message] of [
      [{ expires_at: after(3600), expires_in_seconds: 3600 }, /^expires_at: .*one of the two/],
      [{ expires_at: after(-1) }, /^expires_at: must be in the future/],
      [{ expires_at: after(59) }, /^expires_at: must be 60 to/],
      [{ expires_at: after(maximum + 1) }, /^expires_at: must be 60 to/],
      [{ expires_at: 'tomorrow' }, /^expires_at: must be an RFC 3339 time/],
      [{ expires_at: 1_900_000_000 }, /^expires_at: must be an RFC 3339 time/],
    ] as const) {
      const refused = await api.call(method, path, { ...rest, ...expiry })
      t.match(refused, { status: 400, code: 'INVALID_REQUEST', message }, `${method} ${path}`)
    }
    const absent = await api.call(method, path, rest)
    if (mayBeAbsent) t.ok(absent.status < 300, path)
    else t.match(absent, { status: 400, message: /^expires_in_seconds: is missing: send it or expires_at/ })
  }
  const { expires_at } = await api.get<{ expires_at: null }>('PATCH', `/embeds/${embed}`, { expires_at: null })
  t.equal(expires_at, null, 'null is never')
})

test('a password of a new link has eight characters at least', async (t) => {
  const path = '/buckets/expiring/object-shares/a'
  t.match(await api.call('POST', path, { password: 'seven77' }), { status: 400, message: /^password: .* 8 to/ })
  t.equal((await api.call('POST', path, { password: 'eight888' })).status, 201)
})

test('what the document says is what is answered', async (t) => {
  t.same(server.undocumented, [])
})
