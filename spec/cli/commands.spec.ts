/** Proves: API-PRO-08, AUT-S3P-09. */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { test } from 'tap'
import { commandList } from '../../cli/commands/command-list.ts'
import { configDocument } from '../../cli/commands/config/config-document.ts'
import { configTable } from '../../cli/config/config-table.ts'
import { buildCommit } from '../../cli/version.ts'
import { environment, run, spawned } from './command-runner.ts'

/** What every colour begins with on a terminal. */
const ESCAPE = String.fromCharCode(27)

test('usage errors end with 2, on standard error, with what was probably meant', async (t) => {
  const cases: readonly [argv: string, message: RegExp][] = [
    ['sever', /no command "sever"\nDid you mean "object-store server"\?/],
    ['config shwo', /no command "config shwo"\nDid you mean "object-store config show"\?/],
    ['confg show', /Did you mean "object-store config show"\?/],
    ['config', /config is not a command by itself; it has: config show/],
    ['wibble-wobble', /no command "wibble-wobble"\nRun "object-store --help"/],
    ['server --confg x', /"--confg".*did you mean --config\?/],
    ['server --data-dri=x', /did you mean --data-dir\?/],
    ['server --s3-bnd x', /did you mean --s3-bind\?/],
    ['server doctor --jsn', /server doctor: .*did you mean --json\?\)\nRun "object-store server doctor --help"/],
    ['account list', /no command "account list"\nDid you mean "object-store service-account list"\?/],
    ['acount list', /Did you mean "object-store service-account list"\?/],
    ['acount', /Did you mean "object-store service-account --help"\?/],
    ['accounts', /Did you mean "object-store service-account --help"\?/],
    ['users lst', /Did you mean "object-store service-account list"\?/],
    ['doctor', /Did you mean "object-store server doctor"\?/],
    ['ls photos', /Did you mean "object-store object list"\?/],
    ['list', /no command "list"\nRun "object-store --help"/],
    ['status --wait 2s', /Extraneous positional argument \("2s"\); write it as --wait=2s\n/],
    ['server --config', /server: Not enough arguments to option --config/],
    ['server extra', /Extraneous positional argument \("extra"\)/],
    ['--quiet', /must come before its options/],
    ['server --set nothing', /--set takes name=value/],
    ['config show --set __proto__=1', /--set __proto__: unknown setting/],
    ['config show --s3-bind nowhere', /--s3-bind: "nowhere" is not host:port/],
    ['config show --config /none.toml', /\/none\.toml: cannot be read/],
  ]
  for (const [argv, message] of cases) {
    const outcome = await run(argv.split(' '))
    t.equal(outcome.exitCode, 2, argv)
    t.equal(outcome.stdout, '', argv)
    t.match(outcome.stderr, message)
  }
  const { stderr } = await run(['status', '--jason', '--json'])
  t.match(JSON.parse(stderr), { error: { exit: 'usage', code: 2, message: /--jason/ } })
})

test('help, version and colours', async (t) => {
  for (const argv of [[], ['help'], ['--help'], ['-h']]) {
    const { exitCode, stdout, stderr } = await run(argv)
    t.equal(exitCode, 0)
    t.equal(stderr, '')
    for (const part of ['object-store server', 'object-store quickstart', 'config show', '130  Interrupted']) {
      t.ok(stdout.includes(part), part)
    }
    t.notOk(stdout.includes(ESCAPE), 'no colours on a pipe')
  }
  t.ok((await run(['--help'], { terminal: true })).stdout.includes(ESCAPE), 'colours on a terminal')
  const plain = await run(['--help'], { terminal: true, environment: { NO_COLOR: '1' } })
  t.notOk(plain.stdout.includes(ESCAPE), 'NO_COLOR')
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const commit = buildCommit()
  const built = commit === undefined ? 'built without git' : `commit ${commit}`
  for (const flag of ['--version', '-v', 'version']) {
    t.equal((await run([flag])).stdout, `${version} (${built})\n`)
  }
  const names = commandList.flatMap((command) => (command.usage === undefined ? [] : (command.paths ?? [])))
  for (const path of names) {
    const { exitCode, stdout } = await run([...path, '--help'])
    t.equal(exitCode, 0, path.join(' '))
    t.ok(stdout.includes(`  object-store ${path.join(' ')}`), path.join(' '))
    t.notMatch(stdout, /#\d/, 'values are called values')
    const [, details = ''] = stdout.split('\nDetails\n')
    t.notMatch(details, /[a-z,]\n\n {2}[a-z]/, 'no paragraph breaks off within a sentence')
  }
  t.match((await run(['config', '-h'])).stdout, /object-store config show \[options\]/)
  t.match(
    (await run(['object', 'put', '-h'])).stdout,
    /^ {2}object-store object put <bucket> <key> <file> \[options\]$/m,
  )
  t.match(
    (await run(['bucket', 'versioning', '-h'])).stdout,
    /^ {2}object-store bucket versioning <bucket> \[status\]/m,
  )
  const doctor = (await run(['server', 'doctor', '--help'])).stdout
  t.ok(doctor.includes('  object-store server doctor [options]'))
  t.notOk(doctor.includes('  object-store server [options]'), 'of this command alone')
  t.notOk((await run(['server', '--help'])).stdout.includes('object-store server doctor'), 'and the other way round')
})

test('every setting with a flag of its own has that flag', async (t) => {
  const { stdout } = await run(['server', '--help'])
  const flags = configTable.flatMap((row) => ('flag' in row ? [row.flag] : []))
  t.strictSame(
    [...(stdout.match(/^ {2}--[a-z0-9-]+/gm) ?? [])].map((flag) => flag.trim()).sort(),
    [...flags, '--config', '--set'].sort(),
  )
  const values: Record<string, string> = { '--data-dir': '/x', '--log-level': 'warn' }
  const argv = flags.flatMap((flag, index) => [flag, values[flag] ?? `127.0.0.1:${index + 1}`])
  const shown = await run(['config', 'show', '--json', ...argv])
  const bySource = shown.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const row of configTable) {
    const source = bySource.find(({ name }) => name === row.name)?.['source']
    t.equal(source === 'flag', 'flag' in row, row.name)
  }
})

test('config show', async (t) => {
  const text = await run(['config', 'show', '--s3-bind', '[::1]:1'], { environment })
  t.equal(text.exitCode, 0)
  const lines = text.stdout.trim().split('\n')
  t.equal(lines.length, configTable.length + 1)
  t.match(
    lines.find((line) => line.startsWith('s3.bind ')),
    /OBJECT_STORE_S3_BIND +\[::1\]:1 +flag +127\.0\.0\.1:7600/,
  )
  t.match(
    lines.find((line) => line.startsWith('root.secret_key ')),
    /\[redacted\] +environment/,
  )
  t.match(
    lines.find((line) => line.startsWith('metrics.scrape_token ')),
    /\(not set\)/,
  )
  t.notMatch(text.stdout, /canary|abab/)
  const json = await run(['config', 'show', '--json'], { environment })
  const objects = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  t.strictSame(
    objects.map(({ name }) => name),
    configTable.map((row) => row.name),
  )
  t.match(
    objects.find(({ name }) => name === 'limits.queue_wait_seconds'),
    {
      environment: 'OBJECT_STORE_LIMITS_QUEUE_WAIT_SECONDS',
      value: 10,
      source: 'default',
      default: 10,
      unit: 'seconds',
      bounds: '1 to 300',
    },
  )
  t.match(
    objects.find(({ name }) => name === 'credential_master_key'),
    { value: '[redacted]', default: null },
  )
  t.match(
    objects.find(({ name }) => name === 'metrics.scrape_token'),
    { value: null, source: null },
  )
  t.notMatch(json.stdout, /canary|abab/)
  const markdown = await run(['config', 'show', '--markdown'], { environment: { OBJECT_STORE_NONSENSE: '1' } })
  t.equal(markdown.stdout, configDocument(), 'the page does not depend on the configuration')
})

/** Listens on a free port of the loopback with one constant answer. */
async function answering(status: number, body: string): Promise<{ server: Server; bind: string }> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/ready' ? status : 404).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { server, bind: `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}` }
}

test('status', async (t) => {
  const cases = [
    { status: 200, body: '{"status":"ready"}', exitCode: 0, stdout: /\/ready: ready\n$/ },
    {
      status: 503,
      body: '{"status":"not_ready","failing":[{"name":"journal","reason":"it is poisoned"}]}',
      exitCode: 1,
      stdout: /not ready \(HTTP 503\)\n {2}journal: it is poisoned\n$/,
    },
    { status: 503, body: '{"status":"not_ready","failing":"odd"}', exitCode: 1, stdout: /not ready \(HTTP 503\)\n$/ },
    { status: 200, body: '<html>', exitCode: 1, stdout: /^$/ },
  ]
  for (const { status, body, exitCode, stdout } of cases) {
    const { server, bind } = await answering(status, body)
    const outcome = await run(['status', '--api-bind', bind])
    t.equal(outcome.exitCode, exitCode)
    t.match(outcome.stdout, stdout)
    const json = await run(['status', '--json', '--api-bind', bind])
    t.equal(json.exitCode, exitCode)
    if (json.stdout !== '') t.match(JSON.parse(json.stdout), { ready: exitCode === 0, http_status: status })
    else t.match(JSON.parse(json.stderr), { error: { exit: 'failed', code: 1 } })
    await new Promise((resolve) => server.close(resolve))
    const closed = await run(['status', '--api-bind', bind])
    t.equal(closed.exitCode, 10)
    t.match(closed.stderr, /cannot be reached/)
  }
})

test('the real command', async (t) => {
  const [version, wrong, unknown] = await Promise.all([
    spawned(['--version']),
    spawned(['sever']),
    spawned(['config', 'show'], { OBJECT_STORE_S3_BIMD: 'x' }),
  ])
  t.equal(version.exitCode, 0)
  t.match(version.stdout, /^\d+\.\d+\.\d+ \((?:commit [0-9a-f]{11}[0-9a-f+]|built without git)\)\n$/)
  t.match(wrong, { exitCode: 2, stdout: '', stderr: /Did you mean "object-store server"/ })
  t.match(unknown, { exitCode: 2, stdout: '', stderr: /did you mean OBJECT_STORE_S3_BIND\?/ })
  const source = readFileSync('cli/main.ts', 'utf8')
  t.match(
    source,
    /^(\/\/[^\n]*\n)*import \{ environment \} from '\.\/environment\.ts'\n/,
    'the environment comes first',
  )
})

test('help on a word lists its commands, and a missing option is named', async (t) => {
  const { stdout } = await run(['bucket', '--help'])
  t.match(stdout, /^Commands of bucket\n\n {2}object-store bucket list +list the buckets\n/)
  t.match(stdout, /object-store bucket delete/)
  const proof = await run(['proof', 'create', 'b', 'k'], {
    environment: { OBJECT_STORE_URL: 'http://127.0.0.1:1', OBJECT_STORE_TOKEN: 'token' },
  })
  t.match(proof, { exitCode: 2, stderr: /--output is missing/ })
  t.match((await run(['policy', 'create', '--help'])).stdout, /"effect": "allow"[^]+s3:GetObject, /)
})
