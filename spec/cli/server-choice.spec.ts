/** Which server a command asks, and with which token: flags, then the environment, then a profile. */
import { writeFileSync } from 'node:fs'
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
})

test('flags go before the environment, and that before the profile', async (t) => {
  const directory = t.testdir({
    token: `${SYSTEM_TOKEN}\n`,
    wrong: 'wrong',
    'object-store': {
      'profiles.toml': [
        `[here]\nurl = "${apiEndpoint}"\ntoken = "${SYSTEM_TOKEN}"`,
        `[file]\nurl = "${apiEndpoint}"\ntoken_file = "token"`,
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
  t.equal(await code(['--profile', 'here'], { OBJECT_STORE_URL: away.OBJECT_STORE_URL }), 10)
  t.equal(await code(['--profile', 'here'], { OBJECT_STORE_TOKEN: 'wrong' }), 5)
  t.equal(await code(['--profile', 'file'], { OBJECT_STORE_TOKEN: 'wrong' }), 5)
  t.equal(await code(['--profile', 'away'], HERE), 0)
  t.equal(await code(['--url', apiEndpoint, '--token', SYSTEM_TOKEN], away), 0)
  t.equal(await code(['--token-file', 'token'], { ...HERE, OBJECT_STORE_TOKEN: 'wrong' }), 0)
  t.equal(await code(['--token-file', 'wrong', '--token', SYSTEM_TOKEN], HERE), 0)
  t.equal(await code(['--token-file', 'wrong'], HERE), 5)
  t.equal(await code([], { OBJECT_STORE_URL: apiEndpoint }), 5, 'without any token')
  t.match((await session([], { OBJECT_STORE_URL: apiEndpoint })).stderr, /no token was sent: set OBJECT_STORE_TOKEN/)
  t.equal(await code(['--url', `${apiEndpoint}/`], HERE), 0)
  const refused: readonly [words: string[], said: RegExp][] = [
    [['--profile', 'none'], /has no profile none/],
    [['--profile', 'toString'], /has no profile toString/],
    [['--profile', 'odd'], /unknown key odd\.uri/],
    [['--profile', 'number'], /number\.url must be a string/],
    [['--token-file', 'nowhere'], /nowhere cannot be read/],
    [['--ca-file', 'nowhere'], /nowhere cannot be read/],
    [['--url', 'ftp://x'], /an address begins with http/],
    [['--url', 'http://a b'], /http:\/\/a b/],
    [['--url', 'http://x:99999'], /http:\/\/x:99999/],
  ]
  for (const [words, stderr] of refused)
    t.match(await session(words, base, directory), { exitCode: 2, stderr }, String(stderr))
  writeFileSync(join(directory, 'object-store/profiles.toml'), '[here]\ntoken = "a-token-without-end')
  const broken = await session(['--profile', 'here'], base)
  t.match(broken, { exitCode: 2, stderr: /invalid TOML in line 2/ })
  t.notMatch(broken.stderr, 'a-token', 'the line is not shown')
  const home = t.testdir({ '.config': { 'object-store': { 'profiles.toml': `[p]\nurl = "${apiEndpoint}"` } } })
  t.equal((await session(['--profile', 'p', '--token', SYSTEM_TOKEN], { HOME: home })).exitCode, 0)
})
