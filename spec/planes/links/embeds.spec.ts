/**
 * Embeds: shown in pages of the allowed origins, and never run.
 * Proves: DO-LIS-07, DO-CAP-18, RES-AUD-10, API-PUB-05, AUT-PUB-01, AUT-PUB-03.
 */
import tap, { test } from 'tap'
import { microsecondsOf } from '../../../engine/brands.ts'
import { deleteEmbed, revokeEmbed, updateEmbed } from '../../support/sharing-commands.ts'
import { startSharing } from '../../support/sharing-server.ts'

let now = Date.UTC(2026, 0, 31)
const server = await startSharing({ clock: () => now })
tap.teardown(() => server.stop())
const { askEmbed: ask, store } = server
await server.put('a/cat.png', 'PNG', [['content-type', 'image/png']])
const SHOP = 'https://shop.example'
const FROM_SHOP = { origin: SHOP }
const ELSEWHERE = { origin: 'https://evil.example' }

test('a safe type is shown inline, with every header that keeps it harmless', async (t) => {
  const { token } = await server.embed('a/cat.png')
  const { status, text, headers } = await ask('GET', `/e/${token}`, { origin: 'https://any.example' })
  t.same([status, text], [200, 'PNG'])
  t.equal(headers['content-type'], 'image/png')
  t.equal(headers['content-disposition'], 'inline; filename="cat.png"')
  t.equal(headers['x-content-type-options'], 'nosniff')
  t.match(headers['content-security-policy'], /^sandbox; default-src 'none'.*; frame-ancestors \*$/)
  t.equal(headers['cache-control'], 'public, max-age=60, must-revalidate')
  t.equal(headers['access-control-allow-origin'], '*')
  t.equal(headers['cross-origin-resource-policy'], 'cross-origin')
  t.match(headers['x-amz-request-id'], /.{8}/)
  t.equal((await ask('GET', `/e/${token}`, { range: 'bytes=1-' })).status, 206)
  t.equal((await ask('HEAD', `/e/${token}`)).headers['content-length'], '3')
  const cached = await ask('GET', `/e/${token}`, { 'if-none-match': headers.etag ?? '' })
  t.same([cached.status, cached.headers['cache-control']], [304, headers['cache-control']])
})

test('what is active is an attachment', async (t) => {
  for (const type of ['text/html', 'image/svg+xml', 'application/pdf', 'text/xml', 'application/javascript', 'a']) {
    await server.put('active.x', '<svg onload="alert(1)">', [['content-type', type]])
    const { token } = await server.embed('active.x')
    const { headers } = await ask('GET', `/e/${token}`)
    t.equal(headers['content-type'], 'application/octet-stream', type)
    t.equal(headers['content-disposition'], 'attachment; filename="active.x"', type)
  }
})

test('only pages of the allowed origins may show it', async (t) => {
  const { token } = await server.embed('a/cat.png', { allowedOrigins: [SHOP, 'http://localhost:8080'] })
  const target = `/e/${token}`
  const shown = await ask('GET', target, FROM_SHOP)
  t.equal(shown.headers['access-control-allow-origin'], SHOP)
  t.match(shown.headers['access-control-expose-headers'], /content-range/)
  t.equal(shown.headers.vary, 'origin')
  t.match(shown.headers['content-security-policy'], /frame-ancestors https:\/\/shop\.example http:\/\/localhost:8080$/)
  t.equal(shown.headers['cache-control'], 'private, max-age=60, must-revalidate')
  const denied = await ask('GET', target, ELSEWHERE)
  t.equal(denied.status, 403)
  t.match(denied.text, 'EMBED_ORIGIN_DENIED')
  t.notOk(denied.headers['access-control-allow-origin'])
  t.notOk(denied.headers.etag)
  const outside = await ask('GET', target, { ...FROM_SHOP, range: 'bytes=9-' })
  t.same([outside.status, outside.headers['access-control-allow-origin']], [416, SHOP])
  for (const [headers, status] of [
    [{}, 200],
    [{ origin: 'null' }, 403],
    [{ origin: `${SHOP}.evil.example` }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image', referer: `${SHOP}/page` }, 200],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image', referer: 'https://evil.example/' }, 403],
    [{ 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'image' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image', referer: 'nonsense' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }, 200],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' }, 200],
    [{ 'sec-fetch-site': 'none', 'sec-fetch-dest': 'image' }, 200],
  ] as const) {
    t.equal((await ask('GET', target, headers)).status, status, JSON.stringify(headers))
  }
})

test('an origin that is no origin never gets into a header', async (t) => {
  const { token } = await server.embed('a/cat.png', {
    allowedOrigins: ["https://a.example; script-src 'unsafe-inline'"],
  })
  const { headers } = await ask('GET', `/e/${token}`)
  t.match(headers['content-security-policy'], /frame-ancestors 'none'$/)
})

test('preflights are answered for allowed origins', async (t) => {
  const { token } = await server.embed('a/cat.png', { allowedOrigins: [SHOP] })
  const asks = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' }
  const allowed = await ask('OPTIONS', `/e/${token}`, { ...FROM_SHOP, ...asks })
  t.equal(allowed.status, 204)
  t.equal(allowed.headers['access-control-allow-origin'], SHOP)
  t.equal(allowed.headers['access-control-allow-methods'], 'GET, HEAD')
  t.match(allowed.headers['access-control-allow-headers'], /\brange\b/)
  t.equal((await ask('OPTIONS', `/e/${token}`, { ...ELSEWHERE, ...asks })).status, 403)
  t.equal((await ask('OPTIONS', `/e/${'A'.repeat(43)}`, { ...FROM_SHOP, ...asks })).status, 404)
  t.equal((await ask('DELETE', `/e/${token}`)).status, 405)
})

test('no cache keeps an answer past the expiry, and revocations are followed at once', async (t) => {
  const expiresMicroseconds = microsecondsOf((now + 30_500) * 1000)
  const expiring = await server.embed('a/cat.png', { cacheSeconds: 3600, expiresMicroseconds })
  t.match((await ask('GET', `/e/${expiring.token}`)).headers['cache-control'], /max-age=30,/)
  now += 30_000
  t.equal((await ask('GET', `/e/${expiring.token}`)).headers['cache-control'], 'no-cache')
  now += 500
  t.match(await ask('GET', `/e/${expiring.token}`), { status: 410, text: /EMBED_EXPIRED/ })
  const other = await server.embed('a/cat.png')
  await store.client.execute(updateEmbed(other.id, { allowedOrigins: [SHOP], cacheSeconds: 0 }))
  t.equal((await ask('GET', `/e/${other.token}`, ELSEWHERE)).status, 403)
  t.equal((await ask('GET', `/e/${other.token}`)).headers['cache-control'], 'no-cache')
  await store.client.execute(revokeEmbed(other.id))
  t.match(await ask('GET', `/e/${other.token}`), { status: 410, text: /EMBED_REVOKED/ })
  await store.client.execute(deleteEmbed(other.id))
  t.match(await ask('GET', `/e/${other.token}`), { status: 404, text: /EMBED_NOT_FOUND/ })
  const records = (await server.journal()).filter(({ operation }) => operation === 'embed.denied')
  t.ok(records.length > 5)
  t.ok(records.some(({ details }) => details.get('error') === 'embed-revoked' && details.get('embed_id') === other.id))
})

test('a token of a share opens no embed, nor the other way', async (t) => {
  const share = await server.share('a/cat.png')
  const embed = await server.embed('a/cat.png')
  t.equal((await ask('GET', `/e/${share.token}`)).status, 404)
  t.equal((await server.ask('GET', `/s/${embed.token}`)).status, 404)
})

test('nothing failed', (t) => {
  t.same(server.failures, [])
  t.end()
})
