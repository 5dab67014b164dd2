/**
 * Which server a command asks, and with which token: flags, then the environment, then a profile.
 * Proves: API-PRO-08.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { type Outcome, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { apiEndpoint } = server
const HERE = { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }

/** What `session` says with these words and this environment. */
function session(
  words: readonly string[],
  environment: Record<string, string>,
  workingDirectory = '/',
): Promise<Outcome> {
  return run(['session', ...words], { environment, workingDirectory })
}

function status(words: readonly string[], environment: Record<string, string>): Promise<Outcome> {
  return run(['status', ...words], { environment })
}

test('status asks the server that is named', async (t) => {
  const ready = { exitCode: 0, stdout: `${apiEndpoint}/ready: ready\n` }
  t.match(await status([], { OBJECT_STORE_URL: apiEndpoint }), ready)
  t.match(await status(['--url', apiEndpoint], { OBJECT_STORE_URL: 'http://127.0.0.1:1' }), ready)
  t.match(await status(['--url', 'http://127.0.0.1:1'], HERE), { exitCode: 10, stderr: /127\.0\.0\.1:1\/ready cannot/ })
  const directory = t.testdir({ 'object-store': { 'profiles.toml': `[here]\nurl = "${apiEndpoint}"` } })
  t.match(await status(['--profile', 'here'], { XDG_CONFIG_HOME: directory }), ready)
  const elsewhere = { XDG_CONFIG_HOME: directory, OBJECT_STORE_URL: 'http://127.0.0.1:1' }
  t.match(await status(['--profile', 'here'], elsewhere), ready, 'a profile that is asked for by name')
})

/** A listener on a free port, and its address, where nobody answers before `open`. */
async function late(): Promise<{ url: string; listener: Server; open: () => void }> {
  const listener = createServer()
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return { url: `http://127.0.0.1:${port}`, listener, open: () => listener.listen(port, '127.0.0.1') }
}

test('status --wait asks until the server is ready', async (t) => {
  const { url, listener, open } = await late()
  t.teardown(() => listener.close())
  const questions: string[] = []
  listener.on('request', ({ url: path = '' }, response: ServerResponse) => {
    questions.push(path)
    const isReady = questions.length > 2
    response.statusCode = isReady ? 200 : 503
    response.end(JSON.stringify(isReady ? {} : { failing: [{ name: 'metadata', reason: 'replays' }] }))
  })
  const waiting = status(['--wait', '--url', url], {})
  setTimeout(open, 300)
  t.match(await waiting, { exitCode: 0, stdout: `${url}/ready: ready\n` })
  t.same(questions, ['/ready', '/ready', '/ready'])
})

test('status --wait ends as it would without, when the time is over', async (t) => {
  const { url, listener, open } = await late()
  t.match(await status(['--wait=1s', '--url', url], {}), { exitCode: 10, stderr: /cannot be reached/ })
  t.match(await status(['--wait=0s', '--url', url], {}), { exitCode: 10 })
  listener.on('request', (_, response: ServerResponse) => {
    response.statusCode = 503
    response.end('{"failing":[{"name":"metadata","reason":"replays"}]}')
  })
  open()
  t.teardown(() => listener.close())
  await once(listener, 'listening')
  t.match(await status(['--wait=1', '--url', url], {}), { exitCode: 1, stdout: /not ready.*\n {2}metadata: replays\n/ })
  for (const wrong of ['--wait=soon', '--wait=-1']) {
    t.match(await status([wrong, '--url', url], {}), { exitCode: 2, stderr: /--wait: / }, wrong)
  }
})

test('flags go before a profile that is named, that before the environment, and that before its profile', async (t) => {
  const directory = t.testdir({
    token: `${SYSTEM_TOKEN}\n`,
    wrong: 'wrong',
    'object-store': {
      'profiles.toml': [
        `[here]\nurl = "${apiEndpoint}"\ntoken = "${SYSTEM_TOKEN}"`,
        `[file]\nurl = "${apiEndpoint}"\ntoken_file = "token"`,
        `[bare]\nurl = "${apiEndpoint}"`,
        '[away]\nurl = "http://127.0.0.1:1"\ntoken = "wrong"',
        '[odd]\nuri = "x"',
        '[number]\nurl = 1',
      ].join('\n'),
    },
  })
  const base = { XDG_CONFIG_HOME: directory }
  const code = async (words: readonly string[], environment: Record<string, string> = {}) =>
    (await session(words, { ...base, ...environment }, directory)).exitCode
  const away = { OBJECT_STORE_URL: 'http://127.0.0.1:1', OBJECT_STORE_TOKEN: 'wrong' }
  t.equal(await code(['--profile', 'here']), 0)
  t.equal(await code(['--profile', 'file']), 0)
  t.equal(await code([], { OBJECT_STORE_PROFILE: 'here' }), 0)
  t.equal(await code(['--profile', 'here'], { OBJECT_STORE_PROFILE: 'away' }), 0)
  t.equal(await code(['--profile', 'here'], away), 0, 'the token of a profile goes to no other server')
  t.equal(await code(['--profile', 'file'], away), 0)
  t.equal(await code(['--profile', 'away'], HERE), 10, 'a profile that is asked for is the one that is used')
  t.equal(await code(['--profile', 'bare'], { OBJECT_STORE_TOKEN: SYSTEM_TOKEN }), 0, 'a profile without a token')
  t.equal(await code(['--profile', 'bare'], { OBJECT_STORE_TOKEN: 'wrong' }), 5)
  t.equal(await code([], { ...HERE, OBJECT_STORE_PROFILE: 'away' }), 0)
  t.equal(await code([], { OBJECT_STORE_TOKEN: SYSTEM_TOKEN, OBJECT_STORE_URL: '', OBJECT_STORE_PROFILE: 'bare' }), 0)
  t.equal(await code(['--profile', 'here', '--token', 'wrong'], HERE), 5)
  t.equal(await code(['--url', apiEndpoint, '--token', SYSTEM_TOKEN], away), 0)
  t.equal(await code(['--token-file', 'token'], { ...HERE, OBJECT_STORE_TOKEN: 'wrong' }), 0)
  t.equal(await code(['--token-file', 'wrong', '--token', SYSTEM_TOKEN], HERE), 0)
  t.equal(await code(['--token-file', 'wrong'], HERE), 5)
  t.equal(await code([], { OBJECT_STORE_URL: apiEndpoint }), 5, 'without any token')
  t.match((await session([], { OBJECT_STORE_URL: apiEndpoint })).stderr, /no token was sent: set OBJECT_STORE_TOKEN/)
  t.equal(await code(['--url', `${apiEndpoint}/`], HERE), 0)
  const refused: readonly [words: string[], said: RegExp][] = [
    [['--profile', 'none'], /has no profile none; it has: here, file, bare, away, odd, number\n/],
    [['--profile', 'toString'], /has no profile toString/],
    [['--profile', 'odd'], /unknown key odd\.uri/],
    [['--profile', 'number'], /number\.url must be a string/],
    [['--token-file', 'nowhere'], /nowhere cannot be read/],
    [['--ca-file', 'nowhere'], /nowhere cannot be read/],
    [['--url', 'ftp://x'], /an address must begin with http/],
    [['--url', 'http://a b'], /http:\/\/a b/],
    [['--url', 'http://x:99999'], /http:\/\/x:99999/],
  ]
  for (const [words, stderr] of refused)
    t.match(await session(words, base, directory), { exitCode: 2, stderr }, String(stderr))
  writeFileSync(join(directory, 'object-store/profiles.toml'), '[here]\ntoken = "a-token-without-end')
  const broken = await session(['--profile', 'here'], base)
  t.match(broken, { exitCode: 2, stderr: /invalid TOML in line 2/ })
  t.notMatch(broken.stderr, 'a-token', 'the line is not shown')
  const nowhere = await session(['--profile', 'p'], { XDG_CONFIG_HOME: join(directory, 'none') })
  t.match(nowhere, {
    exitCode: 2,
    stderr: /no profile p: \S+profiles\.toml does not exist; write into it \[p\] with url/,
  })
  const home = t.testdir({ '.config': { 'object-store': { 'profiles.toml': `[p]\nurl = "${apiEndpoint}"` } } })
  t.equal((await session(['--profile', 'p', '--token', SYSTEM_TOKEN], { HOME: home })).exitCode, 0)
})
