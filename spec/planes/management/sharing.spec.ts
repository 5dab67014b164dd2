/**
 * Routes of shares and embeds. What their addresses open is in spec/planes/links.
 * Proves: RES-AUD-09, API-SHR-01, API-SHR-02, API-SHR-03, API-SHR-04, API-SHR-05, API-SHR-06, API-SHR-07, API-SHR-08,
 * AUT-MGT-05.
 */
import tap, { test } from 'tap'
import { API } from '../../../planes/management/routing/define-route.ts'
import type { SharingSettings } from '../../../engine/links/settings.ts'
import { bearer } from '../../support/api-client.ts'
import type { IssuedToken } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'

interface Link {
  readonly id: string
  readonly url: string
  readonly [name: string]: unknown
}

let settings: Partial<SharingSettings> = {}
let now = Date.UTC(2026, 7, 1)
const server = await startManaged({ clock: () => now, sharing: () => settings })
tap.teardown(() => server.stop())
const { api } = server

for (const name of ['photos', 'versioned']) await api.get('POST', '/buckets', { name })
await api.get('PUT', '/buckets/versioned/versioning', { status: 'Enabled' })
const put = (path: string, text: string) =>
  api.send('PUT', `${API}/buckets/${path}`, { raw: text, headers: [['content-length', String(text.length)]] })
await put('photos/object/a/cat%20%C3%BC.jpg', 'a cat')
const SHARES = '/buckets/photos/object-shares/a/cat%20%C3%BC.jpg'
const EMBEDS = '/buckets/photos/object-embeds/a/cat%20%C3%BC.jpg'
const KEY = 'a/cat ü.jpg'

const as: Record<string, typeof api> = {}
for (const role of ['storage-administrator', 'auditor']) {
  const { token } = await api.get<IssuedToken>('POST', '/management-tokens', { name: role, role })
  as[role] = api.as(bearer(token))
}

async function records(operation: string) {
  return (await server.journal()).filter((entry) => entry.operation === operation)
}

test('a share is made with its address, and shown without it', async (t) => {
  const made = await api.get<Link>('POST', SHARES, {
    expires_in_seconds: 3600,
    maximum_downloads: 3,
    file_name: 'Katze.jpg',
    password: 'correct horse',
  })
  t.match(made.url, /^https:\/\/files\.example\/s\/[\w-]{43}$/)
  const { url, ...record } = made
  t.same(record, {
    id: made.id,
    bucket: 'photos',
    key: KEY,
    version_id: null,
    status: 'active',
    created_at: record['created_at'],
    expires_at: new Date(now + 3_600_000).toISOString().replace('.000Z', '.000000Z'),
    revoked_at: null,
    file_name: 'Katze.jpg',
    password_protected: true,
    maximum_downloads: 3,
    downloads: 0,
  })
  t.match(made.id, /^share-[a-z2-7]{20}$/)
  t.same(await api.get('GET', `/shares/${made.id}`), record)
  t.same(await api.get('GET', `/shares/${made.id}/url`), { url })
  const token = url.slice(-43)
  const list = await api.call('GET', SHARES)
  t.same(list.json, { shares: [record], next_after: null })
  t.notOk(list.text.includes(token))
  const journal = await server.journalText()
  for (const secret of [token, 'correct horse']) t.notOk(journal.includes(secret))
  t.match(await server.session.passwords.matches('correct horse', passwordOf(made.id), 'a'), true)
  t.match(await server.session.passwords.matches('correct horsf', passwordOf(made.id), 'a'), false)
  const digest = server.session.capabilityTokens.digest('share', token) as Uint8Array
  t.equal(server.session.catalog.snapshot().findShare(digest)?.share, made.id)
})

function passwordOf(id: string) {
  const password = server.session.catalog.snapshot().share(id)?.password
  if (password === undefined) throw new Error('it has no password')
  return password
}

test('a share of one version, and one of what is current', async (t) => {
  const first = await (await put('versioned/object/k', 'first')).json
  const { version_id: versionId } = first as { version_id: string }
  const path = '/buckets/versioned/object-shares/k'
  const pinned = await api.get<Link>('POST', path, { version_id: versionId })
  const current = await api.get<Link>('POST', path, {})
  t.match(pinned, { version_id: versionId, status: 'active', downloads: null, password_protected: false })
  await api.get('DELETE', '/buckets/versioned/object/k')
  t.match(await api.get('GET', `/shares/${current.id}`), { status: 'target_deleted', version_id: null })
  t.match(await api.get('GET', `/shares/${pinned.id}`), { status: 'active' })
  await api.get('DELETE', `/buckets/versioned/object-versions/k?version_id=${versionId}`)
  t.match(await api.get('GET', `/shares/${pinned.id}`), { status: 'target_deleted', version_id: versionId })
  t.match(await api.call('POST', path, { version_id: versionId }), { status: 404, code: 'VERSION_NOT_FOUND' })
  t.match(await api.call('POST', path, {}), { status: 404, code: 'OBJECT_NOT_FOUND' })
  t.match(await api.call('GET', path), { status: 200 }, 'links of what is gone can be seen, and deleted')
})

test('origins that no browser sends, and patterns, are refused', async (t) => {
  await put('photos/object/origins', 'x')
  const path = '/buckets/photos/object-embeds/origins'
  for (const origin of [
    'https://*.example.com',
    'https://a;b.example',
    "https://a'b.example",
    'https://a,b.example',
    'https://a.example/',
    'https://A.example',
    'https://a.example:443',
    'null',
    'file://',
    'https://a.example b',
  ]) {
    t.match(
      await api.call('POST', path, { allowed_origins: [origin] }),
      { status: 400, code: 'INVALID_REQUEST' },
      origin,
    )
  }
  for (const origin of [
    'http://localhost:8080',
    'https://[::1]:8080',
    'https://xn--bcher-kva.example',
    'http://a_b.c-d',
  ]) {
    t.match(await api.get('POST', path, { allowed_origins: [origin] }), { allowed_origins: [origin] }, origin)
  }
})

test('states of a share', async (t) => {
  const { id } = await api.get<Link>('POST', SHARES, { expires_in_seconds: 60 })
  now += 60_000
  t.match(await api.get('GET', `/shares/${id}`), { status: 'expired' })
  const revoked = await api.get<Link>('POST', `/shares/${id}/revoke`)
  t.match(revoked, { status: 'revoked', revoked_at: /^2026-/ }, 'revoked goes before expired')
  t.same(await api.get('POST', `/shares/${id}/revoke`), revoked, 'revoked again it is as it was')
  t.match(await api.call('DELETE', `/shares/${id}`), { status: 204, text: '' })
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/url'],
    ['POST', '/revoke'],
    ['DELETE', ''],
  ]) {
    t.match(await api.call(String(method), `/shares/${id}${path}`), { status: 404, code: 'SHARE_NOT_FOUND' })
  }
})

test('an embed is made, changed in part, revoked and deleted', async (t) => {
  const made = await api.get<Link>('POST', EMBEDS, {
    allowed_origins: ['https://a.example', 'http://b.example:8080', 'https://a.example'],
  })
  t.match(made.url, /^https:\/\/store\.example\/embeds\/e\/[\w-]{43}$/)
  const { url, ...record } = made
  t.match(record, {
    id: /^embed-[a-z2-7]{20}$/,
    status: 'active',
    allowed_origins: ['https://a.example', 'http://b.example:8080'],
    cache_seconds: 60,
    expires_at: null,
  })
  const one = `/embeds/${made.id}`
  t.same(await api.get('GET', one), record)
  t.same(await api.get('GET', `${one}/url`), { url })
  t.same(await api.get('GET', EMBEDS), { embeds: [record], next_after: null })
  t.match(await api.get('PATCH', one, { expires_in_seconds: 60 }), { expires_at: /^2026-/, cache_seconds: 60 })
  t.match(await api.get('PATCH', one, { cache_seconds: 0 }), { expires_at: /^2026-/, cache_seconds: 0 })
  const all = { allowed_origins: ['*'], expires_in_seconds: null }
  t.match(await api.get('PATCH', one, all), { allowed_origins: ['*'], expires_at: null, cache_seconds: 0 })
  t.match(await api.get('POST', `${one}/revoke`), { status: 'revoked' })
  t.match(await api.call('PATCH', one, { cache_seconds: 5 }), { status: 409, code: 'EMBED_REVOKED' })
  t.match(await api.call('DELETE', one), { status: 204 })
  t.match(await api.call('PATCH', one, {}), { status: 404, code: 'EMBED_NOT_FOUND' })
})

test('concurrent changes of an embed keep what the other changes', async (t) => {
  const { id } = await api.get<Link>('POST', EMBEDS, { allowed_origins: ['*'] })
  await Promise.all([
    api.get('PATCH', `/embeds/${id}`, { cache_seconds: 7 }),
    api.get('PATCH', `/embeds/${id}`, { allowed_origins: ['https://c.example'] }),
  ])
  t.match(await api.get('GET', `/embeds/${id}`), { cache_seconds: 7, allowed_origins: ['https://c.example'] })
})

test('what is not valid is refused by name', async (t) => {
  const refused: [path: string, body: object, message: RegExp][] = [
    [SHARES, { expires_in_seconds: 59 }, /^expires_in_seconds: /],
    [SHARES, { expires_in_seconds: 10 ** 9 }, /^expires_in_seconds: /],
    [SHARES, { maximum_downloads: 0 }, /^maximum_downloads: /],
    [SHARES, { maximum_downloads: 1_000_001 }, /^maximum_downloads: /],
    [SHARES, { password: '' }, /^password: /],
    [SHARES, { password: 'ü'.repeat(600) }, /^password: .*1024 bytes/],
    [SHARES, { password: 'a\nbcdefgh' }, /^password: .*control/],
    [SHARES, { file_name: '../x' }, /^file_name: .*slashes/],
    [SHARES, { file_name: 'a\\x' }, /^file_name: .*slashes/],
    [SHARES, { file_name: 'a\r\nset-cookie: b' }, /^file_name: .*control/],
    [SHARES, { file_name: 'x'.repeat(256) }, /^file_name: /],
    [SHARES, { token: 'mine' }, /^token: unknown field/],
    [EMBEDS, {}, /^allowed_origins: is missing/],
    [EMBEDS, { allowed_origins: [] }, /^allowed_origins: /],
    [EMBEDS, { allowed_origins: ['*', 'https://a.example'] }, /^allowed_origins\[0\]: /],
    [EMBEDS, { allowed_origins: ['https://a.example/'] }, /^allowed_origins\[0\]: .*origin/],
    [EMBEDS, { allowed_origins: ['https://A.example'] }, /^allowed_origins\[0\]: .*origin/],
    [EMBEDS, { allowed_origins: ["https://a.example; script-src 'unsafe-inline'"] }, /^allowed_origins\[0\]: .*origin/],
    [EMBEDS, { allowed_origins: ['https://a.example', 'null'] }, /^allowed_origins\[1\]: .*origin/],
    [EMBEDS, { allowed_origins: ['ftp://a.example'] }, /^allowed_origins\[0\]: .*origin/],
    [EMBEDS, { allowed_origins: ['*'], cache_seconds: 3601 }, /^cache_seconds: /],
  ]
  for (const [path, body, message] of refused) {
    t.match(await api.call('POST', path, body), { status: 400, code: 'INVALID_REQUEST', json: { error: { message } } })
  }
  t.match(await api.call('POST', '/buckets/none/object-shares/k', {}), { status: 404, code: 'BUCKET_NOT_FOUND' })
  t.match(await api.call('POST', SHARES, { version_id: 'made-up' }), { status: 404, code: 'VERSION_NOT_FOUND' })
})

function refusal(pattern: RegExp) {
  return { status: 400, json: { error: { message: pattern } } }
}

test('what the deployment does not allow', async (t) => {
  settings = { maximumLifetimeSeconds: 3600, requiresPassword: true }
  t.match(await api.get('GET', '/sharing/settings'), {
    enabled: true,
    maximum_lifetime_seconds: 3600,
    require_password: true,
    public_share_url: 'https://files.example',
    public_embed_url: 'https://store.example/embeds',
  })
  const password = 'a password'
  t.match(await api.call('POST', SHARES, { expires_in_seconds: 60 }), refusal(/^password: must be sent/))
  t.match(await api.call('POST', SHARES, { password }), refusal(/^expires_in_seconds: must be sent/))
  t.match(
    await api.call('POST', SHARES, { password, expires_in_seconds: 3601 }),
    refusal(/^expires_in_seconds: .*3600/),
  )
  t.match(await api.call('POST', SHARES, { password, expires_in_seconds: 3600 }), { status: 201 })
  const origins = { allowed_origins: ['*'] }
  t.match(await api.call('POST', EMBEDS, origins), refusal(/^expires_in_seconds: must be sent/))
  const { id } = await api.get<Link>('POST', EMBEDS, { ...origins, expires_in_seconds: 60 })
  t.match(await api.call('PATCH', `/embeds/${id}`, { expires_in_seconds: null }), refusal(/^expires_in_seconds: /))
  settings = { enabled: false }
  t.match(await api.call('POST', SHARES, {}), { status: 409, code: 'SHARING_DISABLED' })
  t.match(await api.call('POST', EMBEDS, origins), { status: 409, code: 'SHARING_DISABLED' })
  t.match(await api.call('POST', `/embeds/${id}/revoke`), { status: 200 }, 'revoking goes on')
  settings = {}
  t.match(await api.get('GET', '/sharing/settings'), { maximum_lifetime_seconds: null })
})

test('an auditor sees links and not their addresses, and changes none', async (t) => {
  const { id } = await api.get<Link>('POST', SHARES, {})
  const embed = await api.get<Link>('POST', EMBEDS, { allowed_origins: ['*'] })
  const auditor = as['auditor'] as typeof api
  for (const path of ['/sharing/settings', SHARES, EMBEDS, `/shares/${id}`, `/embeds/${embed.id}`]) {
    t.match(await auditor.call('GET', path), { status: 200 }, path)
  }
  for (const [method, path] of [
    ['GET', `/shares/${id}/url`],
    ['GET', `/embeds/${embed.id}/url`],
    ['POST', SHARES],
    ['POST', EMBEDS],
    ['POST', `/shares/${id}/revoke`],
    ['POST', `/embeds/${embed.id}/revoke`],
    ['PATCH', `/embeds/${embed.id}`],
    ['DELETE', `/shares/${id}`],
    ['DELETE', `/embeds/${embed.id}`],
  ]) {
    t.match(await auditor.call(String(method), String(path)), { status: 403, code: 'FORBIDDEN' }, `${method} ${path}`)
  }
  const storage = as['storage-administrator'] as typeof api
  t.match(await storage.call('GET', `/shares/${id}/url`), { status: 200 })
  t.match(await storage.call('DELETE', `/shares/${id}`), { status: 204 })
})

test('records: an attempt and an outcome, of the operation, on the target, without token or password', async (t) => {
  const share = await api.get<Link>('POST', SHARES, { password: 'hidden words' })
  const embed = await api.get<Link>('POST', EMBEDS, { allowed_origins: ['*'] })
  await api.get('PATCH', `/embeds/${embed.id}`, { cache_seconds: 9 })
  for (const path of [`/shares/${share.id}`, `/embeds/${embed.id}`]) {
    await api.get('POST', `${path}/revoke`)
    await api.call('DELETE', path)
  }
  const resource = `bucket:photos/${KEY}`
  for (const operation of [
    'share.created',
    'share.revoked',
    'share.deleted',
    'embed.created',
    'embed.revoked',
    'embed.deleted',
    'embed.updated',
  ]) {
    const [attempt, outcome] = (await records(operation)).slice(-2)
    t.match(attempt, { result: 'attempted', resource, principal: 'management:system-administrator' }, operation)
    t.match(outcome, { result: 'success', resource, intent: attempt?.sequence }, operation)
    t.equal(outcome?.details.get('id'), operation.startsWith('share') ? share.id : embed.id)
  }
  const created = (await records('share.created')).at(-1)
  t.equal(created?.details.get('password'), 'set')
  const updated = (await records('embed.updated')).at(-1)
  t.equal(updated?.details.get('cache_seconds'), 9)
  t.equal(updated?.details.get('cache_seconds_before'), 60)
  const all = JSON.stringify((await server.journal()).map(({ metadata }) => metadata))
  t.notOk(all.includes('hidden words'))
  t.notOk(all.includes(share.url.slice(-43)))
})

test('refused changes are recorded under the same operation', async (t) => {
  const auditor = as['auditor'] as typeof api
  const { id } = await api.get<Link>('POST', SHARES, {})
  await auditor.call('POST', `/shares/${id}/revoke`)
  t.match((await records('share.revoked')).at(-1), { result: 'denied', resource: `bucket:photos/${KEY}` })
  await api.call('POST', '/shares/share-none/revoke')
  const unknown = (await records('share.revoked')).slice(-2)
  t.match(unknown, [{ result: 'attempted' }, { result: 'failure', resource: `${API}/shares/{id}/revoke` }])
  await api.call('POST', '/buckets/photos/object-shares/none', {})
  t.match((await records('share.created')).at(-1), { result: 'failure', resource: 'bucket:photos/none' })
  const { events } = await api.get<{ events: { operation: string }[] }>('GET', '/audit/events?bucket=photos&key=none')
  t.match(events, [{ operation: 'share.created' }, { operation: 'share.created' }])
})

test('lists have pages, oldest first', async (t) => {
  await put('photos/object/many', 'x')
  const ids: string[] = []
  for (let count = 0; count < 5; count += 1) {
    now += 1000
    ids.push((await api.get<Link>('POST', '/buckets/photos/object-shares/many', {})).id)
  }
  const seen: string[] = []
  let after = ''
  do {
    const page = await api.get<{ shares: Link[]; next_after: string | null }>(
      'GET',
      `/buckets/photos/object-shares/many?limit=2${after}`,
    )
    seen.push(...page.shares.map(({ id }) => id))
    after = page.next_after === null ? '' : `&after=${page.next_after}`
  } while (after !== '')
  t.same(seen, ids)
  t.match(await api.call('GET', '/buckets/photos/object-shares/many?after=x'), { status: 400 })
})

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
