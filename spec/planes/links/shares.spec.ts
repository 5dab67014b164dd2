/**
 * What a share leads to: the description, the bytes, and why there are none.
 * Proves: DO-CAP-18, API-MET-02, API-PUB-01, API-PUB-02, API-PUB-04, EVT-AUD-09.
 */
import tap, { test } from 'tap'
import { microsecondsOf } from '../../../engine/brands.ts'
import { createBucket, deleteBucket } from '../../support/commands.ts'
import { deleteShare, revokeShare } from '../../support/sharing-commands.ts'
import { SHARED_BUCKET, startSharing } from '../../support/sharing-server.ts'

let now = Date.UTC(2026, 0, 31)
const server = await startSharing({ clock: () => now })
tap.teardown(() => server.stop())
const { ask, store } = server
const CAT = 'the bytes of a cat'
await server.put('cats/tom.txt', CAT, [['content-type', 'text/plain; charset=utf-8']])
const CODE = /"code":"(\w+)"/

async function codeOf(target: string, method = 'GET'): Promise<string> {
  const { status, text } = await ask(method, target)
  return `${status} ${CODE.exec(text)?.[1]}`
}

test('a share describes what it leads to', async (t) => {
  const { token } = await server.share('cats/tom.txt')
  const { status, text, headers } = await ask('GET', `/s/${token}`)
  t.equal(status, 200)
  t.match(JSON.parse(text), {
    locked: false,
    name: 'tom.txt',
    size: CAT.length,
    content_type: 'text/plain; charset=utf-8',
    last_modified: /^2026-01-31T00:00:00\.\d{6}Z$/,
    expires_at: null,
    downloads_left: null,
  })
  t.equal(headers['cache-control'], 'no-store')
  t.equal(headers['referrer-policy'], 'no-referrer')
  t.equal(headers['x-content-type-options'], 'nosniff')
  t.match(headers['x-request-id'], /.{8}/)
  const page = await ask('GET', `/s/${token}`, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  t.match(page.headers['content-type'], /^text\/html/)
  t.match(page.headers['content-security-policy'], /default-src 'none'; style-src 'sha256-/)
  t.match(page.text, 'tom.txt')
  t.notMatch(page.text, /<script|http:|https:/)
})

test('its bytes are an attachment, and come as they do from the S3 plane', async (t) => {
  const { token } = await server.share('cats/tom.txt', { fileName: 'Käter "Tom".txt' })
  const path = `/s/${token}/content`
  const whole = await ask('GET', path)
  t.equal(whole.text, CAT)
  t.equal(whole.headers['content-type'], 'text/plain; charset=utf-8')
  t.equal(
    whole.headers['content-disposition'],
    `attachment; filename="K_ter _Tom_.txt"; filename*=UTF-8''K%C3%A4ter%20%22Tom%22.txt`,
  )
  t.match(whole.headers['content-security-policy'], /^sandbox; /)
  const etag = whole.headers.etag ?? ''
  const head = await ask('HEAD', path)
  t.equal(head.headers['content-length'], String(CAT.length))
  t.equal(head.headers['content-disposition'], whole.headers['content-disposition'])
  const part = await ask('GET', path, { range: 'bytes=4-8' })
  t.same([part.status, part.text, part.headers['content-range']], [206, 'bytes', `bytes 4-8/${CAT.length}`])
  const partHead = await ask('HEAD', path, { range: 'bytes=4-8' })
  t.same([partHead.status, partHead.headers['content-length']], [206, '5'])
  t.equal((await ask('GET', path, { range: 'bytes=4-8', 'if-range': '"other"' })).status, 200)
  const outside = await ask('GET', path, { range: 'bytes=99-' })
  t.same([outside.status, outside.headers['content-range']], [416, `bytes */${CAT.length}`])
  t.equal((await ask('GET', path, { 'if-none-match': etag })).status, 304)
  t.equal((await ask('GET', path, { 'if-match': '"other"' })).status, 412)
  t.equal((await ask('GET', path, { 'if-modified-since': whole.headers['last-modified'] ?? '' })).status, 304)
})

test('what could run in a page is sent as bytes without a type', async (t) => {
  for (const type of ['text/html', 'image/svg+xml', 'text/javascript', 'application/pdf', 'text/css', 'nonsense']) {
    await server.put('active', '<script>', [['content-type', type]])
    const { token } = await server.share('active')
    const { headers } = await ask('GET', `/s/${token}/content`)
    t.equal(headers['content-type'], 'application/octet-stream', type)
  }
  await server.put('empty', '')
  const { token } = await server.share('empty')
  const empty = await ask('GET', `/s/${token}/content`)
  t.same([empty.status, empty.text, empty.headers['content-length']], [200, '', '0'])
})

test('the coding of what is stored goes with it', async (t) => {
  await server.put('coded', 'x', [
    ['content-encoding', 'gzip'],
    ['cache-control', 'public, max-age=9999'],
  ])
  const { token } = await server.share('coded')
  const { headers } = await ask('HEAD', `/s/${token}/content`)
  t.equal(headers['content-encoding'], 'gzip')
  t.equal(headers['cache-control'], 'no-store', 'not that of the object')
})

test('a link that leads nowhere says why, at every route', async (t) => {
  const expiring = await server.share('cats/tom.txt', { expiresMicroseconds: microsecondsOf((now + 1000) * 1000) })
  const revoked = await server.share('cats/tom.txt')
  const deleted = await server.share('cats/tom.txt')
  await server.put('gone', 'x')
  const gone = await server.share('gone')
  t.equal((await ask('GET', `/s/${expiring.token}`)).status, 200)
  now += 1000
  await store.client.execute(revokeShare(revoked.id))
  await store.client.execute(deleteShare(deleted.id))
  await server.raw('DELETE', `/${SHARED_BUCKET}/gone`)
  for (const [{ token }, wanted] of [
    [expiring, '410 SHARE_EXPIRED'],
    [revoked, '410 SHARE_REVOKED'],
    [deleted, '404 SHARE_NOT_FOUND'],
    [gone, '404 SHARE_TARGET_NOT_FOUND'],
    [{ token: 'A'.repeat(43) }, '404 SHARE_NOT_FOUND'],
    [{ token: 'x' }, '404 SHARE_NOT_FOUND'],
    [{ token: '%41'.repeat(9) }, '404 SHARE_NOT_FOUND'],
  ] as const) {
    t.equal(await codeOf(`/s/${token}`), wanted)
    t.equal(await codeOf(`/s/${token}/content`), wanted)
    t.equal(await codeOf(`/s/${token}/unlock`, 'POST'), wanted)
  }
  await server.put('gone', 'again')
  t.equal((await ask('GET', `/s/${gone.token}/content`)).text, 'again', 'a share of a key follows what is there')
})

test('a bucket that was created again is another one', async (t) => {
  await store.client.execute(createBucket('short-lived'))
  await server.raw('PUT', '/short-lived/key', { body: 'old' })
  const { token } = await server.share('key', { bucket: 'short-lived' })
  t.equal((await ask('GET', `/s/${token}/content`)).text, 'old')
  await server.raw('DELETE', '/short-lived/key')
  await store.client.execute(deleteBucket('short-lived'))
  t.equal(await codeOf(`/s/${token}`), '404 SHARE_TARGET_NOT_FOUND')
  await store.client.execute(createBucket('short-lived'))
  await server.raw('PUT', '/short-lived/key', { body: 'new' })
  t.equal(await codeOf(`/s/${token}/content`), '404 SHARE_TARGET_NOT_FOUND')
})

test('of a share with a limit exactly so many downloads are sent', async (t) => {
  const { token } = await server.share('cats/tom.txt', { maximumDownloads: 5 })
  const path = `/s/${token}/content`
  const etag = (await ask('HEAD', path)).headers.etag ?? ''
  t.equal((await ask('GET', path, { 'if-none-match': etag })).status, 304, 'nothing is sent')
  t.equal((await ask('GET', path, { range: 'bytes=99-' })).status, 416)
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask('GET', path)))
  t.equal(answers.filter(({ status, text }) => status === 200 && text === CAT).length, 5)
  t.equal(answers.filter(({ status, text }) => status === 410 && text.includes('SHARE_EXHAUSTED')).length, 7)
  t.equal(await codeOf(`/s/${token}`), '410 SHARE_EXHAUSTED')
  t.equal(await codeOf(path), '410 SHARE_EXHAUSTED')
})

test('a download that counts is a note of the store: it says nothing of who downloaded', async (t) => {
  const { id, token } = await server.share('cats/tom.txt', { maximumDownloads: 1 })
  t.equal((await ask('GET', `/s/${token}/content`)).status, 200)
  const counted = (await server.journal()).filter(({ operation }) => operation === 'share.downloaded')
  const own = counted.filter(({ details }) => details.get('share_id') === id)
  t.match(own, [{ principal: 'system:sharing', resource: 'bucket:photos/cats/tom.txt', result: 'success' }])
  t.match(own, [{ sourceAddress: undefined, requestId: undefined }])
})

test('a damaged object uses up no download', async (t) => {
  const { token } = await server.share('cats/tom.txt', { maximumDownloads: 2 })
  const path = `/s/${token}/content`
  t.equal((await ask('GET', path, { range: 'bytes=0-0' })).status, 206)
  t.equal(JSON.parse((await ask('GET', `/s/${token}`)).text).downloads_left, 1)
})

test('methods and paths that there are not', async (t) => {
  const { token } = await server.share('cats/tom.txt')
  const { status, headers } = await ask('POST', `/s/${token}/content`)
  t.same([status, headers.allow], [405, 'GET, HEAD'])
  for (const path of ['/s/', `/s/${token}/`, `/s/${token}/other`, `/s//${token}`, `/s/${token}/content/x`]) {
    t.equal(await codeOf(path), '404 NOT_FOUND', path)
  }
})

test('with sharing off no token is known', async (t) => {
  const off = await startSharing({ isEnabled: false })
  t.teardown(() => off.stop())
  await off.put('a', 'x')
  const share = await off.share('a')
  const embed = await off.embed('a')
  t.match((await off.ask('GET', `/s/${share.token}`)).text, 'SHARE_NOT_FOUND')
  t.match((await off.askEmbed('GET', `/e/${embed.token}`)).text, 'EMBED_NOT_FOUND')
})

test('nothing failed', (t) => {
  t.same(server.failures, [])
  t.end()
})
