/** Times, durations and names as people write them in commands; the root credential; what a wrong address says. */
import tap, { test } from 'tap'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { type Outcome, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { apiEndpoint } = server
const HERE = { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }

function ask(...words: readonly string[]): Promise<Outcome> {
  return run(words, { environment: HERE })
}

test('periods, times and sizes', async (t) => {
  for (const name of ['photos', 'held'])
    await ask('bucket', 'create', name, ...(name === 'held' ? ['--object-lock'] : []))
  const rule = await ask('lifecycle', 'create', 'photos', '--expiration', '2w', '--json')
  t.match(JSON.parse(rule.stdout), { expiration: 14 })
  t.match(await ask('lifecycle', 'create', 'photos', '--expiration', '90'), {
    exitCode: 0,
    stdout: /\nexpiration +90\n/,
  })
  const half = await ask('lifecycle', 'create', 'photos', '--expiration', '36h')
  t.match(half, { exitCode: 2, stderr: /--expiration: "36h" is not a whole number of days/ })
  t.match(await ask('bucket', 'retain', 'held', 'GOVERNANCE', '--days', '1w'), { exitCode: 0 })
  t.match(await ask('bucket', 'retention', 'held'), { stdout: /period\.value +7\n/ })
  t.match(await ask('quota', 'set', 'photos', '--bytes', '1.5TB'), { stdout: /^quota\.bytes +1500000000000\n/ })
  const either = await ask('quota', 'set', 'photos', '--bytes', '10G')
  t.match(either, { exitCode: 2, stderr: /--bytes: "10G" can mean 10GiB .* and 10GB .*: write one of them\n$/ })
  t.match(await ask('system', 'history', '--since', '1h'), { exitCode: 0 })
  t.match(await ask('system', 'history', '--since', 'now'), { exitCode: 0 })
  const never = await ask('system', 'history', '--since', 'yesterday')
  t.match(never, { exitCode: 2, stderr: /--since takes a time such as 2026-08-01T12:00:00Z, 2026-08-01 or 1h/ })
  for (const words of [
    ['audit', 'query'],
    ['events', 'list'],
  ]) {
    t.match(await ask(...words, '--from', '1h', '--to', 'now'), { exitCode: 0 }, `${words.join(' ')} like audit export`)
  }
  const replay = await ask('webhook', 'replay', 'wh-aaaaaaaaaaaaaaaaaaaa', '7d', '--until', '2026-11-01')
  t.match(replay, { exitCode: 4, stderr: /WEBHOOK_NOT_FOUND/ }, 'the times were taken')
  const soon = await ask('credential', 'temporary', 'sa-aaaaaaaaaaaaaaaaaaaa', '--expires-in', '1h30m')
  t.match(soon, { exitCode: 4, stderr: /ACCOUNT_NOT_FOUND/ })
})

test('a bucket with a slash, and too few arguments', async (t) => {
  for (const words of [
    ['object', 'show', 'photos/a/b', 'k'],
    ['object', 'get', 'photos/a/b', 'k'],
    ['object', 'put', 'photos/a/b', 'k', import.meta.filename],
    ['object', 'copy', 'photos', 'k', 'photos/a/b', 'k'],
    ['proof', 'create', 'photos/a/b', 'k', '--output', '/dev/null'],
  ]) {
    t.match(await ask(...words), { exitCode: 2, stderr: /two arguments, photos a\/b\n/ }, words.join(' '))
  }
  const few = await ask('object', 'show', 'photos/a')
  t.match(few, {
    exitCode: 2,
    stderr: /Not enough positional arguments\nUsage: object-store object show <bucket> <key>\n/,
  })
  const many = await ask('credential', 'temporary', 'jim', '1h')
  t.match(many.stderr, /\nUsage: object-store credential temporary <account>\n/)
})

test('an object from a pipe, with its progress on a terminal alone', async (t) => {
  const words = ['object', 'put', 'photos', 'piped', '-']
  const silent = await run(words, { environment: HERE, input: 'from a pipe' })
  t.match(silent, { exitCode: 0, stdout: /\nsize +11\n/, stderr: /^$/ })
  t.equal((await ask('object', 'get', 'photos', 'piped')).stdout, 'from a pipe')
  t.equal((await ask('object', 'get', 'photos', 'piped', '-')).stdout, 'from a pipe', 'as put reads from it')
  const shown = await run(words, { environment: HERE, input: 'again', errorTerminal: true })
  t.match(shown, { exitCode: 0, stderr: /0\.0 MiB read\r.*\[#{30}\] 0\.0 MiB/s })
  t.match(await run(words, { environment: HERE }), { exitCode: 0, stdout: /\nsize +0\n/ }, 'an empty pipe')
})

test('the root credential of the environment is sent with --root alone', async (t) => {
  const root = { OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY, OBJECT_STORE_ROOT_SECRET_KEY: SECRET_KEY }
  const session = (words: readonly string[], environment: Record<string, string>) =>
    run(['session', ...words], { environment: { OBJECT_STORE_URL: apiEndpoint, ...environment } })
  t.match(await session(['--root'], root), { exitCode: 0, stdout: /^principal +management:system-administrator\n/ })
  t.match(await session(['--root'], { ...root, OBJECT_STORE_TOKEN: 'wrong' }), { exitCode: 0 })
  t.match(await session([], root), { exitCode: 5, stderr: /no token was sent/ })
  t.match(await session(['--root'], {}), { exitCode: 2, stderr: /--root needs OBJECT_STORE_ROOT_ACCESS_KEY and/ })
  t.match(await session(['--root', '--token', 'x'], root), {
    exitCode: 2,
    stderr: /cannot be combined with --token/,
  })
  const directory = t.testdir({ secret: `${SECRET_KEY}\n` })
  const named = { OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY, OBJECT_STORE_ROOT_SECRET_KEY_FILE: `${directory}/secret` }
  t.match(await session(['--root'], named), { exitCode: 0 }, 'a secret in a file')
  const lost = await session(['--root'], { ...named, OBJECT_STORE_ROOT_SECRET_KEY_FILE: `${directory}/none` })
  t.match(lost, { exitCode: 2, stderr: /ROOT_SECRET_KEY_FILE: \S+none cannot be read/ })
  const wrong = await session(['--root'], { ...root, OBJECT_STORE_ROOT_SECRET_KEY: 'not the secret key' })
  t.match(wrong, { exitCode: 5, stderr: /is the root credential that of another server\?/ })
  const issued = await run(['token', 'issue', 'first', 'auditor', '--root', '--json'], {
    environment: { OBJECT_STORE_URL: apiEndpoint, ...root },
  })
  t.match(JSON.parse(issued.stdout), { role: 'auditor', token: /^osm_/ })
})

test('the address of the S3 listener', async (t) => {
  const outcome = await run(['session', '--url', server.endpoint, '--token', SYSTEM_TOKEN])
  t.match(outcome.stderr, /an error of S3; commands ask the management listener \(api\.bind, port 7601 unless set\)/)
})
