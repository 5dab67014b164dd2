/**
 * Proves: DO-LIS-03, DO-LIS-04, DO-LIS-05, DO-LIS-11, AUT-S3P-05.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { formatAddress, localUrl, parseAddress } from '../../cli/config/address.ts'
import { configDocument } from '../../cli/commands/config/config-document.ts'
import { ConfigError } from '../../cli/config/config-error.ts'
import type { ConfigRow } from '../../cli/config/config-row.ts'
import { configTable, environmentName, reservedEnvironmentNames } from '../../cli/config/config-table.ts'
import { loadConfig } from '../../cli/config/load-config.ts'
import { exitTable } from '../../cli/exit-codes.ts'
import { file, problemsOf, read } from './config-inputs.ts'
import { editDistance, nearestName } from '../../cli/terminal/nearest-name.ts'

const rows: readonly ConfigRow[] = configTable

test('the table', async (t) => {
  t.equal(new Set(rows.map((row) => row.name)).size, rows.length, 'names are unique')
  t.equal(new Set(rows.map((row) => environmentName(row.name))).size, rows.length, 'environment names are unique')
  for (const row of rows) {
    t.match(row.name, /^[a-z0-9_]+(\.[a-z0-9_]+)*$/, `${row.name}: name`)
    t.match(row.sentence, /^[A-Z].*\.$/, `${row.name}: a sentence`)
    t.equal(row.kind === 'integer', row.unit !== undefined, `${row.name}: an integer has a unit, nothing else has`)
    t.equal(row.kind === 'choice' || row.kind === 'choices', row.choices !== undefined, `${row.name}: choices`)
    if (row.kind === 'integer') t.ok(row.bounds, `${row.name}: bounds`)
    if (row.kind === 'secret') t.equal(row.default, undefined, `${row.name}: no default secret`)
    t.notOk(Object.hasOwn(reservedEnvironmentNames, environmentName(row.name)), `${row.name}: not reserved`)
  }
  const specified = [
    'OBJECT_STORE_DATA_DIR',
    'OBJECT_STORE_S3_BIND',
    'OBJECT_STORE_API_BIND',
    'OBJECT_STORE_CONSOLE_BIND',
    'OBJECT_STORE_ROOT_ACCESS_KEY',
    'OBJECT_STORE_ROOT_SECRET_KEY',
    'OBJECT_STORE_ROOT_S3_ENABLED',
    'OBJECT_STORE_CREDENTIAL_MASTER_KEY',
    'OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN',
    'OBJECT_STORE_METRICS_SCRAPE_TOKEN',
    'OBJECT_STORE_LIMITS_MAXIMUM_CONCURRENT_OPERATIONS',
  ]
  const names = new Set(rows.map((row) => environmentName(row.name)))
  for (const name of specified) t.ok(names.has(name), name)
})

test('spec/manual/configuration.md is the table', async (t) => {
  t.equal(readFileSync('spec/manual/configuration.md', 'utf8'), configDocument())
})

test('defaults', async (t) => {
  const { config, sources } = read({})
  t.equal(config['data_dir'], '/work-place/data')
  t.strictSame(config['s3.bind'], { host: '127.0.0.1', port: 7600 })
  t.strictSame(config['api.bind'], { host: '127.0.0.1', port: 7601 })
  t.strictSame(config['console.bind'], { host: '127.0.0.1', port: 7602 })
  t.equal(config['limits.maximum_concurrent_operations'], 1024)
  t.equal(config['root.s3_enabled'], true)
  t.equal(config['log.level'], 'info')
  t.equal(config['credential_master_key'], undefined)
  t.equal(config['root.access_key'], undefined)
  t.ok(Object.values(sources).every((source) => source === 'default'))
  t.ok(Object.isFrozen(config) && Object.isFrozen(sources) && Object.isFrozen(config['s3.bind']))
  t.strictSame(Object.keys(config).sort(), rows.map((row) => row.name).sort())
})

test('the stronger source wins: flag, environment, file, secrets file, default', async (t) => {
  const all = {
    flags: { 's3.bind': '127.0.0.1:1' },
    environment: { OBJECT_STORE_S3_BIND: '127.0.0.1:2', OBJECT_STORE_API_BIND: '127.0.0.1:12' },
    file: file('[s3]\nbind = "127.0.0.1:3"\n[api]\nbind = "127.0.0.1:13"\n[console]\nbind = "127.0.0.1:23"'),
    secrets: { OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:24', OBJECT_STORE_LOG_LEVEL: 'warn' },
  }
  const { config, sources } = read(all)
  t.match(sources, {
    's3.bind': 'flag',
    'api.bind': 'environment',
    'console.bind': 'file',
    'log.level': 'secrets file',
    'log.requests': 'default',
  })
  t.equal(config['s3.bind'].port, 1)
  t.equal(config['api.bind'].port, 12)
  t.equal(config['console.bind'].port, 23)
  t.equal(config['log.level'], 'warn')
  t.equal(read({ ...all, flags: {} }).config['s3.bind'].port, 2)
  t.equal(read({ file: all.file }).config['s3.bind'].port, 3)
  t.equal(read({ environment: { OBJECT_STORE_LOG_LEVEL: '' } }).sources['log.level'], 'default', 'empty is not given')
})

test('unknown names are refused with the nearest known one', async (t) => {
  t.strictSame(problemsOf({ environment: { OBJECT_STORE_S3_BIMD: 'x', PATH: '/bin', OTHER_STORE: '1' } }), [
    'OBJECT_STORE_S3_BIMD: unknown setting (did you mean OBJECT_STORE_S3_BIND?)',
  ])
  t.equal(problemsOf({ environment: { OBJECT_STORE_STORAGE_ENCRYPTION_ALGORITHM: 'none' } }).length, 1)
  t.strictSame(problemsOf({ environment: { OBJECT_STORE_: '' } }).length, 1, 'refused even when empty')
  t.strictSame(problemsOf({ file: file('[limits]\nmaximum_concurent_operations = 5') }), [
    'store.toml: limits.maximum_concurent_operations: unknown setting ' +
      '(did you mean limits.maximum_concurrent_operations?)',
  ])
  t.match(problemsOf({ file: file('[bogus]') }), ['store.toml: bogus: unknown setting'])
  t.match(problemsOf({ file: file('s3 = 1') }), ['store.toml: s3: unknown setting'])
  t.match(problemsOf({ flags: { 'log.levl': 'info' } }), [/^--set log\.levl: .*did you mean log\.level\?/])
  t.doesNotThrow(() => read({ file: file('[s3]\n[api]') }), 'empty tables of known names')
  t.doesNotThrow(() =>
    read({ environment: Object.fromEntries(Object.keys(reservedEnvironmentNames).map((name) => [name, 'x'])) }),
  )
  t.doesNotThrow(() => read({ environment: { object_store_x: '1', OBJECT_STOREX: '1' } }), 'names of others')
})

test('every problem is reported at once', async (t) => {
  const problems = problemsOf({
    flags: { 'log.level': 'loud', 'root.secret_key': 'never shown 1' },
    environment: { OBJECT_STORE_S3_BIND: 'nowhere', OBJECT_STORE_X: '1' },
    file: file('[limits]\nqueue_wait_seconds = 0\n[root]\ns3_enabled = "perhaps"'),
  })
  t.strictSame(
    problems.map((problem) => problem.split(' ').slice(0, 2).join(' ')).sort(),
    [
      '--log-level: "loud"',
      '--set root.secret_key:',
      'OBJECT_STORE_S3_BIND: "nowhere"',
      'OBJECT_STORE_X: unknown',
      'store.toml: limits.queue_wait_seconds:',
      'store.toml: root.s3_enabled:',
    ].sort(),
  )
  const error = new ConfigError(problems)
  t.equal(error.exitCode, 2)
  for (const problem of problems) t.ok(error.message.includes(problem))
})

test('values of every kind', async (t) => {
  const accepted: readonly [name: string, given: string, shown: unknown][] = [
    ['limits.queue_wait_seconds', '300', 300],
    ['s3.front_ends', '0', 0],
    ['root.s3_enabled', 'false', false],
    ['data_dir', '/srv/x', '/srv/x'],
    ['data_dir', 'sub/../y', '/work-place/y'],
    ['s3.bind', '[::1]:0', { host: '::1', port: 0 }],
    ['s3.bind', 'store.example:65535', { host: 'store.example', port: 65535 }],
    ['root.access_key', 'AKIA.test_1-2', 'AKIA.test_1-2'],
    ['log.requests', 'none', 'none'],
  ]
  for (const [name, given, shown] of accepted) {
    const { config } = read({ flags: { [name]: given } })
    t.strictSame((config as Record<string, unknown>)[name], shown, `${name} = ${given}`)
  }
  const refused: Readonly<Record<string, readonly string[]>> = {
    'limits.queue_wait_seconds': ['301', '0', '1.5', '1e2', '0x10', ' 5', '99999999999999999999'],
    'root.s3_enabled': ['1', 'TRUE'],
    data_dir: ['a\0b'],
    's3.bind': [
      ':7600',
      '7600',
      '127.0.0.1',
      '127.0.0.1:65536',
      '127.0.0.1:076',
      '::1:7600',
      '[nothing]:7600',
      'http://host:1',
    ],
    'root.access_key': ['ab', 'with/slash', 'x'.repeat(129)],
    'log.requests': ['some'],
  }
  for (const [name, all] of Object.entries(refused)) {
    for (const given of all) {
      t.equal(problemsOf({ flags: { [name]: given } }).length, 1, `${name} = ${JSON.stringify(given)}`)
    }
  }
  const written: Readonly<Record<string, readonly [text: string, value: number]>> = {
    'limits.queue_wait_seconds': ['2m', 120],
    'snapshots.interval_minutes': ['2h', 120],
    'storage.compress_after_hours': ['7d', 168],
    'scrub.interval_days': ['2w', 14],
    'storage.inline_limit_bytes': ['64KiB', 65_536],
    'storage.segment_mib': ['1GiB', 1024],
    'audit.anonymous_kib_per_second': ['1MiB/s', 1024],
    'storage.compress_mib_per_second': ['1GiB/s', 1024],
    'server.minimum_bytes_per_second': ['4KiB/s', 4096],
  }
  for (const [name, [text, value]] of Object.entries(written)) {
    t.equal((read({ flags: { [name]: text } }).config as Record<string, unknown>)[name], value, `${name} = ${text}`)
  }
  t.equal(read({ file: file('[scrub]\ninterval_days = "2w"') }).config['scrub.interval_days'], 14)
  t.match(problemsOf({ flags: { 'snapshots.interval_minutes': '90s' } }), [/"90s" is not a whole number of minutes$/])
  t.match(problemsOf({ flags: { 'storage.segment_mib': '1G' } }), [/"1G" can mean 1GiB .* and 1GB/])
  t.match(problemsOf({ flags: { 'limits.queue_wait_seconds': '1h' } }), [/3600 is out of range: 1 to 300 seconds/])
  t.match(problemsOf({ flags: { 's3.front_ends': '2s' } }), [/"2s" is not a whole number$/])
  t.equal(read({ file: file('[limits]\nqueue_wait_seconds = 7') }).config['limits.queue_wait_seconds'], 7)
  t.match(problemsOf({ file: file('[limits]\nqueue_wait_seconds = 7.5') }), [/7\.5 is not a whole number/])
  t.match(problemsOf({ file: file('data_dir = [1]') }), [/is not a path/])
  t.match(problemsOf({ file: file('s3.bind.port = 1') }), [/\{"port":1\} is not host:port/])
  t.match(problemsOf({ file: file('data_dir = "a"\n"s3.bind" = "h:1"\n[s3]\nbind = "h:2"') }), [/set twice/])
})

test('settings that do not go together', async (t) => {
  t.match(problemsOf({ flags: { 'api.bind': '127.0.0.1:7600' } }), [/^s3\.bind and api\.bind: both are 127/])
  const required = { 'checkpoints.timestamps': 'required' }
  t.match(problemsOf({ flags: required }), [/checkpoints\.timestamp_url.*address of the authority is missing/])
  for (const url of ['http://tsa.example/', 'http://127.0.0.1.example/', 'http://10.0.0.1/']) {
    const flags = { ...required, 'checkpoints.timestamp_url': url }
    t.match(problemsOf({ flags }), [/must be https, or http to an address of this machine/])
  }
  for (const url of ['https://tsa.example/tsr', 'http://127.0.0.1:318/', 'http://[::1]:318/tsr', 'http://localhost/']) {
    const { config } = read({ flags: { ...required, 'checkpoints.timestamp_url': url } })
    t.equal(config['checkpoints.timestamp_url'], url)
  }
  t.match(problemsOf({ flags: { 'storage.inline_limit_bytes': '1048576', 'storage.volume_mib': '1' } }), [
    /at most a quarter of a volume, 262144 bytes/,
  ])
  for (const listener of ['s3', 'api']) {
    const [certificate, key] = [`${listener}.tls_certificate_file`, `${listener}.tls_key_file`]
    t.strictSame(problemsOf({ flags: { [certificate]: 'a' } }), [
      `${certificate} and ${key}: TLS needs both, and ${key} is not set`,
    ])
    t.strictSame(problemsOf({ flags: { [key]: 'a' } }), [
      `${certificate} and ${key}: TLS needs both, and ${certificate} is not set`,
    ])
    t.doesNotThrow(() => read({ flags: { [certificate]: 'a', [key]: 'b' } }))
  }
  t.doesNotThrow(() => read({ flags: { 's3.bind': 'h:0', 'api.bind': 'h:0', 'console.bind': 'h:0' } }), 'free ports')
})

function namesOf(inputs: Parameters<typeof read>[0]): readonly string[] | undefined {
  return read(inputs).config['s3.hostnames']
}

test('variables of Kubernetes services are ignored with a warning, and nothing else is', async (t) => {
  const environment = {
    OBJECT_STORE_PORT: 'tcp://10.96.0.7:7600',
    OBJECT_STORE_SERVICE_HOST: '10.96.0.7',
    OBJECT_STORE_SERVICE_PORT: '7600',
    OBJECT_STORE_SERVICE_PORT_S3: '7600',
    OBJECT_STORE_PORT_7600_TCP: 'tcp://10.96.0.7:7600',
    OBJECT_STORE_PORT_7600_TCP_PROTO: 'tcp',
    OBJECT_STORE_PORT_7600_TCP_PORT: '7600',
    OBJECT_STORE_PORT_7600_TCP_ADDR: 'fd00::7',
    OBJECT_STORE_API_PORT: 'tcp://[fd00::7]:7601',
    OBJECT_STORE_API_SERVICE_HOST: 'fd00::7',
  }
  const { warnings } = loadConfig({ flags: {}, environment, workingDirectory: t.testdir() })
  t.equal(warnings.length, 1)
  for (const name of Object.keys(environment)) t.ok(warnings[0]?.includes(name), name)
  const mistakes = { OBJECT_STORE_PORT: '7600', OBJECT_STORE_SERVICE_PORT: 'x', OBJECT_STORE_S3_PORT: '7600' }
  for (const [name, value] of Object.entries(mistakes)) {
    t.match(problemsOf({ environment: { [name]: value } }), [new RegExp(`^${name}: unknown setting`)])
  }
})

test('host names are a list', async (t) => {
  const environment = { OBJECT_STORE_S3_HOSTNAMES: ' Store.example,object-store ' }
  t.strictSame(namesOf({ environment }), ['store.example', 'object-store'])
  t.strictSame(namesOf({ file: file('s3.hostnames = ["A.example"]') }), ['a.example'])
  t.strictSame(namesOf({ flags: { 's3.hostnames': 'one' } }), ['one'])
  t.equal(namesOf({}), undefined)
  for (const text of [
    '*.example',
    'a.example:7600',
    'https://a',
    'a,,b',
    'a b',
    '[::1]',
    'a..b',
    '-a',
    `${'a'.repeat(64)}.b`,
  ])
    t.match(problemsOf({ flags: { 's3.hostnames': text } }), [/^--set s3\.hostnames: .* is not a host name/], text)
  for (const text of ['[]', '7', `[${'"a",'.repeat(65)}]`])
    t.match(problemsOf({ file: file(`s3.hostnames = ${text}`) }), [/must be 1 to 64 host names/])
})

function proxiesOf(inputs: Parameters<typeof read>[0]): readonly string[] {
  return read(inputs).config['server.trusted_proxies']
}

test('proxies are addresses and networks', async (t) => {
  const setting = 'server.trusted_proxies'
  t.strictSame(proxiesOf({}), [])
  t.strictSame(proxiesOf({ flags: { [setting]: '10.0.0.0/8, ::1' } }), ['10.0.0.0/8', '::1'])
  t.strictSame(proxiesOf({ file: file(`${setting} = ["192.0.2.7"]`) }), ['192.0.2.7'])
  for (const text of ['proxy.example', '10.0.0.0/33', '0.0.0.0/0', 'a,', '10.0.0.1:80']) {
    t.match(problemsOf({ flags: { [setting]: text } }), [/^--set server\.trusted_proxies: "/], text)
  }
})

function extensionsOf(inputs: Parameters<typeof read>[0]): readonly string[] {
  return read(inputs).config['s3.extensions']
}

function asVariable(text: string) {
  return { environment: { OBJECT_STORE_S3_EXTENSIONS: text } }
}

test('choices are a list of names', async (t) => {
  t.strictSame(extensionsOf({}), [])
  t.strictSame(extensionsOf(asVariable('')), [], 'an empty variable is none')
  t.strictSame(extensionsOf({ flags: { 's3.extensions': '' } }), [])
  t.strictSame(extensionsOf({ file: file('s3.extensions = []') }), [])
  t.strictSame(extensionsOf(asVariable(' delete-objects, append,append')), ['append', 'delete-objects'])
  t.strictSame(extensionsOf({ file: file('s3.extensions = ["aws-chunked"]') }), ['aws-chunked'])
  for (const text of ['delete', 'append,', 'Append', 'append;checksums', 'all']) {
    t.match(problemsOf({ flags: { 's3.extensions': text } }), [/^--set s3\.extensions: .* is not one of append, aws-/])
  }
  for (const text of ['true', '7', '{}']) {
    t.match(problemsOf({ file: file(`s3.extensions = ${text}`) }), [/is not a list of names/], text)
  }
  t.match(problemsOf({ file: file('s3.extensions = [7]') }), [/7 is not one of/])
})

test('the TOML file is found by flag, then by environment', async (t) => {
  const directory = t.testdir({ 'a.toml': '[log]\nlevel = "debug"', 'b.toml': '[log]\nlevel = "error"' })
  const origins = { flags: {}, environment: { OBJECT_STORE_CONFIG: 'b.toml' }, workingDirectory: directory }
  t.equal(loadConfig(origins).config['log.level'], 'error')
  t.equal(loadConfig({ ...origins, configPath: join(directory, 'a.toml') }).config['log.level'], 'debug')
  t.equal(loadConfig({ ...origins, environment: { OBJECT_STORE_CONFIG: '' } }).config['log.level'], 'info')
  t.throws(() => loadConfig({ ...origins, configPath: 'none.toml' }), /none\.toml: cannot be read/)
  writeFileSync(join(directory, 'bad.toml'), 'a = = b')
  t.throws(() => loadConfig({ ...origins, configPath: 'bad.toml' }), /invalid TOML in line 1, column/)
})

test('addresses', async (t) => {
  for (const text of ['127.0.0.1:7600', '[::1]:7600', 'host:0']) {
    const address = parseAddress(text)
    t.equal(address && formatAddress(address), text)
  }
  t.equal(localUrl({ host: '0.0.0.0', port: 7600 }, false), 'http://127.0.0.1:7600')
  t.equal(localUrl({ host: '::', port: 7600 }, true), 'https://[::1]:7600')
  t.equal(localUrl({ host: '::2', port: 1 }, false), 'http://[::2]:1')
})

test('nearest names', async (t) => {
  t.equal(editDistance('', 'abc'), 3)
  t.equal(editDistance('kitten', 'sitting'), 3)
  t.equal(editDistance('same', 'same'), 0)
  t.equal(nearestName('sever', ['status', 'server']), 'server')
  t.equal(nearestName('SERVER', ['server']), 'server')
  t.equal(nearestName('xyz', ['server', 'status']), undefined)
  t.equal(nearestName('x', []), undefined)
})

test('exit codes', async (t) => {
  const codes = Object.values(exitTable).map(({ code }) => code)
  t.equal(new Set(codes).size, codes.length, 'no code has two meanings')
  t.strictSame(codes, [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 130])
})
