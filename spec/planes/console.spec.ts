/**
 * The listener of the console: its files from memory, and what is mounted beside them.
 * Proves: DO-LIS-09.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { readConsoleAssets } from '../../planes/console/console-assets.ts'
import { type ConsoleExchange, createConsoleHandler } from '../../planes/console/console-handler.ts'
import { serve } from './http-server.ts'

const SCRIPT = 'export const a = 1\n'.repeat(100)

function builtIn(directory: string): string {
  mkdirSync(join(directory, 'assets'))
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Console</title>')
  writeFileSync(join(directory, 'assets/main-abc123.js'), SCRIPT)
  writeFileSync(join(directory, 'assets/main-abc123.css'), 'body {}')
  return `${directory}/`
}

async function consoleIn(t: Test, directory: string) {
  const exchanges: ConsoleExchange[] = []
  const { port } = await serve(
    t,
    createConsoleHandler({
      assets: readConsoleAssets(directory),
      mounts: [
        { path: '/api/v1/', handler: ({ path }) => ({ status: 200, headers: [], body: `management ${path}` }) },
        { path: '/exact', handler: () => ({ status: 200, headers: [], body: 'exact' }) },
      ],
      observe: (exchange) => exchanges.push(exchange),
    }),
  )
  /** fetch decodes by itself, and sends an Accept-Encoding of its own. */
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers: { 'accept-encoding': 'identity', ...init.headers } })
  return { get, exchanges }
}

test('the page, with a policy that lets in nothing but its own files', async (t) => {
  const { get } = await consoleIn(t, builtIn(t.testdir()))
  const page = await get('/')
  t.equal(page.status, 200)
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.equal(page.headers.get('cache-control'), 'no-store')
  t.equal(page.headers.get('x-content-type-options'), 'nosniff')
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  t.equal(page.headers.get('set-cookie'), null)
  t.match(page.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  const policy = (page.headers.get('content-security-policy') ?? '').split('; ')
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ]) {
    t.ok(policy.includes(rule), rule)
  }
  t.notMatch(policy.join(), /unsafe|https?:|\*/)
})

test('files whose names change with their content are kept for ever, compressed for who takes that', async (t) => {
  const { get } = await consoleIn(t, builtIn(t.testdir()))
  const plain = await get('/assets/main-abc123.js')
  t.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  t.equal(plain.headers.get('content-type'), 'text/javascript; charset=utf-8')
  t.equal(plain.headers.get('content-encoding'), null)
  t.equal(plain.headers.get('vary'), 'accept-encoding')
  t.equal(await plain.text(), SCRIPT)
  for (const accepted of ['gzip', 'br, gzip;q=0.5', 'deflate,GZIP']) {
    const zipped = await get('/assets/main-abc123.js', { headers: { 'accept-encoding': accepted } })
    t.equal(zipped.headers.get('content-encoding'), 'gzip', accepted)
    t.equal(await zipped.text(), SCRIPT)
  }
  for (const accepted of ['', 'gzip;q=0', 'gzip;q=0.000', 'br', 'xgzip']) {
    const whole = await get('/assets/main-abc123.js', { headers: { 'accept-encoding': accepted } })
    t.equal(whole.headers.get('content-encoding'), null, accepted)
  }
})

test('everything else is refused by name', async (t) => {
  const { get, exchanges } = await consoleIn(t, builtIn(t.testdir()))
  for (const path of ['/none', '/index.html', '/assets/', '/assets/../index.html', '/api', '/api/v1', '/exact/more']) {
    const answer = await get(path)
    t.equal(answer.status, 404, path)
    t.match(await answer.text(), /^NOT_FOUND: /)
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  }
  const posted = await get('/', { method: 'POST', body: 'x' })
  t.match([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
  const headed = await get('/', { method: 'HEAD' })
  t.match([headed.status, headed.headers.get('content-length')], [200, '37'])
  t.match(exchanges.at(0), { method: 'GET', asset: undefined, status: 404 }, 'a path that is nothing is not logged')
  t.match(exchanges.at(-1), { method: 'HEAD', asset: '/', status: 200 })
})

test('what is mounted answers for itself', async (t) => {
  const { get, exchanges } = await consoleIn(t, builtIn(t.testdir()))
  t.equal(await (await get('/api/v1/buckets/a', { method: 'DELETE' })).text(), 'management /api/v1/buckets/a')
  t.equal(await (await get('/exact')).text(), 'exact')
  t.same(exchanges, [])
})

test('a console that was not built says so', async (t) => {
  const { get } = await consoleIn(t, `${t.testdir()}/gone/`)
  const answer = await get('/')
  t.match([answer.status, await answer.text()], [404, /^NOT_BUILT: .*npm run build/])
  const directory = t.testdir({ 'a.exe': '' })
  t.throws(() => readConsoleAssets(`${directory}/`), /a\.exe: the console has no files of this type/)
})
