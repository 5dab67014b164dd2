/** Proves: RES-KEY-02, API-ACC-07, AUT-MGT-07, AUT-S3P-05, AUT-S3P-06, AUT-S3P-08, AUT-S3P-09. */
import {
  chmodSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { test } from 'tap'
import { decodeMasterKey } from '../../cli/config/master-key.ts'
import type { ConfigName } from '../../cli/config/config-types.ts'
import { readConfig } from '../../cli/config/read-config.ts'
import { Secret } from '../../cli/config/secret.ts'
import { serverCredentials } from '../../cli/config/server-credentials.ts'
import { ExitError } from '../../cli/exit-codes.ts'
import { createLogger, type LogHandle } from '../../cli/server/log/logger.ts'
import { run } from './command-runner.ts'
import { file, problemsOf, read } from './config-inputs.ts'
import { ensureQuickstartSecrets, type QuickstartSecrets } from '../../cli/commands/quickstart/secrets.ts'

const hexadecimalKey = '0123456789abcdef'.repeat(4)

test('secrets', async (t) => {
  const canary = 'canary-0123456789-canary-0123456789'
  const secret = new Secret(canary)
  t.equal(secret.reveal(), canary)
  for (const shown of [String(secret), `${secret}`, JSON.stringify({ secret }), inspect({ deep: [secret] })]) {
    t.notOk(shown.includes('canary'))
    t.ok(shown.includes('[redacted]'))
  }
  t.notOk(JSON.stringify(structuredClone({ secret: { ...secret } })).includes('canary'))
  const environment = { OBJECT_STORE_ROOT_SECRET_KEY: canary }
  t.equal(read({ environment }).config['root.secret_key']?.reveal(), canary)
  const bad = [
    problemsOf({ environment: { OBJECT_STORE_CREDENTIAL_MASTER_KEY: canary } }),
    problemsOf({ environment: { OBJECT_STORE_ROOT_SECRET_KEY: 'canary' } }),
    problemsOf({ environment: { OBJECT_STORE_ROOT_SECRET_KEY: `${canary}\n` } }),
    problemsOf({ environment: { OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: 'canary-of-less-than-32-bytes' } }),
    problemsOf({ environment: { OBJECT_STORE_METRICS_SCRAPE_TOKEN: 'canary' } }),
    problemsOf({ flags: { 'root.secret_key': canary } }),
    problemsOf({ file: file(`[root]\nsecret_key = "${canary}`) }),
    problemsOf({ file: file(`[root]\nsecret_key = ${canary}\n`) }),
    problemsOf({ file: file(`[root]\nsecret_key = ["${canary}"]`) }),
    problemsOf({ file: file(`[root.secret_key]\n"canary" = "${canary}"`) }),
  ]
  for (const problems of bad) {
    t.equal(problems.length, 1)
    t.notOk(problems[0]?.includes('canary'), `message without the secret: ${problems[0]}`)
  }
})

test('the master key', async (t) => {
  const bytes = Buffer.from(hexadecimalKey, 'hex')
  t.strictSame(decodeMasterKey(hexadecimalKey), bytes)
  t.strictSame(decodeMasterKey(hexadecimalKey.toUpperCase()), bytes)
  t.strictSame(decodeMasterKey(bytes.toString('base64')), bytes)
  const stray = `${Buffer.alloc(32).toString('base64').slice(0, 42)}B=`
  for (const text of ['', hexadecimalKey.slice(1), `${hexadecimalKey}0`, `${hexadecimalKey.slice(1)}g`, stray]) {
    t.equal(decodeMasterKey(text), undefined, JSON.stringify(text))
  }
  t.equal(decodeMasterKey(Buffer.alloc(31).toString('base64')), undefined)
  t.equal(decodeMasterKey(Buffer.alloc(33).toString('base64')), undefined)
  t.equal(decodeMasterKey(Buffer.alloc(32, 0xff).toString('base64url')), undefined, 'another alphabet')
})

test('what a server cannot start without', async (t) => {
  const environment = {
    OBJECT_STORE_CREDENTIAL_MASTER_KEY: hexadecimalKey,
    OBJECT_STORE_ROOT_ACCESS_KEY: 'ROOTROOT',
    OBJECT_STORE_ROOT_SECRET_KEY: 'not-a-default-secret',
  }
  const credentials = serverCredentials(read({ environment }).config)
  t.equal(credentials.masterKey.toString('hex'), hexadecimalKey)
  t.equal(credentials.rootAccessKey, 'ROOTROOT')
  t.equal(credentials.rootSecretKey.reveal(), 'not-a-default-secret')
  const failureWithout = (name: string): ExitError => {
    try {
      serverCredentials(read({ environment: { ...environment, [name]: undefined } }).config)
    } catch (error) {
      if (error instanceof ExitError) return error
    }
    throw new Error('accepted')
  }
  for (const [name, code] of [
    ['OBJECT_STORE_CREDENTIAL_MASTER_KEY', 23],
    ['OBJECT_STORE_ROOT_ACCESS_KEY', 2],
    ['OBJECT_STORE_ROOT_SECRET_KEY', 2],
  ] as const) {
    const failure = failureWithout(name)
    t.equal(failure.exitCode, code, name)
    t.ok(failure.message.includes(name), name)
  }
})

interface Given {
  readonly given?: ReadonlySet<ConfigName>
  readonly secretsFile?: string
}

function ensure(dataDirectory: string, { given = new Set(), secretsFile }: Given = {}): QuickstartSecrets {
  return ensureQuickstartSecrets({ config: { data_dir: dataDirectory, secrets_file: secretsFile }, given })
}

test('quickstart secrets are made once, for the owner alone', async (t) => {
  const dataDirectory = join(t.testdir(), 'deep', 'data')
  const first = ensure(dataDirectory)
  t.equal(first.created, true)
  t.equal(statSync(first.path).mode & 0o777, 0o600)
  t.equal(statSync(dataDirectory).mode & 0o777, 0o700)
  t.equal(first.path, `${dataDirectory}.secrets.env`)
  t.strictSame(readdirSync(dataDirectory), [], 'a copy of the data directory has no key')
  t.strictSame(readdirSync(join(dataDirectory, '..')), ['data', 'data.secrets.env'], 'no draft is left behind')
  t.match(first.values, {
    OBJECT_STORE_CREDENTIAL_MASTER_KEY: /^[0-9a-f]{64}$/,
    OBJECT_STORE_ROOT_ACCESS_KEY: /^[A-Z0-9]{20}$/,
    OBJECT_STORE_ROOT_SECRET_KEY: /^[A-Za-z0-9_-]{40}$/,
    OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: /^[A-Za-z0-9_-]{43}$/,
    OBJECT_STORE_METRICS_SCRAPE_TOKEN: /^[A-Za-z0-9_-]{43}$/,
  })
  const second = ensure(dataDirectory)
  t.equal(second.created, false)
  t.strictSame(second.values, first.values)
  const { config, sources } = readConfig({ workingDirectory: '/', secrets: second.values })
  t.equal(config['root.secret_key']?.reveal(), first.values['OBJECT_STORE_ROOT_SECRET_KEY'])
  t.equal(sources['credential_master_key'], 'secrets file')
  const other = ensure(join(t.testdirName, 'other'))
  for (const [name, value] of Object.entries(other.values)) t.not(value, first.values[name], `${name} is random`)
})

test('quickstart secrets a file that others can read is refused', async (t) => {
  const dataDirectory = join(t.testdir(), 'data')
  const { path } = ensure(dataDirectory)
  for (const mode of [0o640, 0o604, 0o620, 0o666]) {
    chmodSync(path, mode)
    t.throws(() => ensure(dataDirectory), /chmod 600/)
  }
  chmodSync(path, 0o400)
  t.doesNotThrow(() => ensure(dataDirectory))
})

test('quickstart secrets a store without its secrets file gets no new master key', async (t) => {
  const dataDirectory = join(t.testdir(), 'data')
  mkdirSync(join(dataDirectory, 'journal'), { recursive: true })
  t.throws(() => ensure(dataDirectory), /give the store's master key with OBJECT_STORE_CREDENTIAL_MASTER_KEY/)
  t.strictSame(readdirSync(dataDirectory), ['journal'])
  const secrets = ensure(dataDirectory, { given: new Set(['credential_master_key'] as const) })
  t.notOk('OBJECT_STORE_CREDENTIAL_MASTER_KEY' in secrets.values, 'an injected key is not stored')
  t.ok('OBJECT_STORE_ROOT_SECRET_KEY' in secrets.values)
})

test('quickstart secrets a damaged file is named by line, without its content', async (t) => {
  const dataDirectory = join(t.testdir(), 'data')
  writeFileSync(`${dataDirectory}.secrets.env`, '# fine\n\ncanary canary\n', { mode: 0o600 })
  const attempt = () => ensure(dataDirectory)
  t.throws(attempt, /line 3 is not NAME=VALUE$/)
})

test('quickstart secrets of before are moved out of the data directory', async (t) => {
  const dataDirectory = t.testdir({ 'secrets.env': 'OBJECT_STORE_ROOT_ACCESS_KEY=MOVED\n' })
  const [inside, beside] = [join(dataDirectory, 'secrets.env'), `${dataDirectory}.secrets.env`]
  t.teardown(() => rmSync(beside, { force: true }))
  chmodSync(inside, 0o600)
  const moved = ensure(dataDirectory)
  t.match(moved, { path: beside, created: false, values: { OBJECT_STORE_ROOT_ACCESS_KEY: 'MOVED' } })
  t.match(moved.notices, [/^moved the secrets from .*secrets\.env to .*\.secrets\.env: /])
  t.strictSame(readdirSync(dataDirectory), [])
  t.equal(statSync(beside).mode & 0o777, 0o600)
  t.strictSame(ensure(dataDirectory).notices, [], 'once')

  linkSync(beside, inside)
  t.equal(ensure(dataDirectory).path, beside, 'a move that was cut off between its two steps')
  t.strictSame(readdirSync(dataDirectory), [])

  writeFileSync(inside, 'OBJECT_STORE_ROOT_ACCESS_KEY=OTHER\n', { mode: 0o600 })
  t.throws(() => ensure(dataDirectory), /hold different secrets; remove the one that does not belong to this store/)
  t.strictSame(readdirSync(dataDirectory), ['secrets.env'], 'nothing is removed for the operator')
})

test('quickstart secrets that cannot be moved stay, and the operator is told', async (t) => {
  const dataDirectory = t.testdir({ 'secrets.env': 'OBJECT_STORE_ROOT_ACCESS_KEY=STAYS\n' })
  chmodSync(join(dataDirectory, 'secrets.env'), 0o600)
  const stays = ensure(dataDirectory, { secretsFile: join(dataDirectory, 'none', 'secrets.env') })
  t.match(stays, { path: join(dataDirectory, 'secrets.env'), values: { OBJECT_STORE_ROOT_ACCESS_KEY: 'STAYS' } })
  t.match(stays.notices, [
    /^the secrets stay in the data directory, .*ENOENT.* name another file with OBJECT_STORE_SECRETS_FILE/,
  ])
})

test('quickstart secrets lie where the setting says, and not beside a mounted directory', async (t) => {
  const directory = t.testdir()
  const secretsFile = join(directory, 'config', 'store.env')
  t.equal(ensure(join(directory, 'data'), { secretsFile }).path, secretsFile)
  t.strictSame(readdirSync(directory), ['config', 'data'])
  t.throws(() => ensure('/proc'), /on a file system of its own.* name another file with OBJECT_STORE_SECRETS_FILE/)
})

test('secrets in files that everybody can read', async (t) => {
  const directory = t.testdir({
    'secret.toml': file('[root]\nsecret_key = "of-the-toml-file"').text,
    'open.toml': '[log]\nlevel = "warn"',
  })
  const show = (name: string) => run(['config', 'show', '--config', name], { workingDirectory: directory })
  chmodSync(join(directory, 'secret.toml'), 0o644)
  t.match(
    (await show('secret.toml')).stderr,
    /^object-store: warning: .*secret\.toml holds a secret .*chmod 600 '.*'\n$/,
  )
  chmodSync(join(directory, 'secret.toml'), 0o640)
  t.equal((await show('secret.toml')).stderr, '', 'a group may share it')
  t.equal((await show('open.toml')).stderr, '', 'it holds no secret')
  writeFileSync(join(directory, 'token'), 'scrape-token-of-the-file-0123456789')
  chmodSync(join(directory, 'token'), 0o644)
  const environment = { OBJECT_STORE_METRICS_SCRAPE_TOKEN_FILE: 'token' }
  const { stderr } = await run(['config', 'show'], { workingDirectory: directory, environment })
  t.match(stderr, /^object-store: warning: .*token holds a secret .*\n$/)
})

test('the logger', async (t) => {
  const path = join(t.testdir({ log: '' }), 'log')
  const logged = async (use: (logger: LogHandle) => void) => {
    // The logger owns the descriptor from here on.
    const logger = createLogger({ level: 'info', bindings: { thread: 'engine' }, fileDescriptor: openSync(path, 'w') })
    use(logger)
    await logger.flush()
    const text = readFileSync(path, 'utf8')
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    return { text, lines }
  }
  const plain = await logged(({ log }) => {
    log.debug('not at this level')
    log.info({ bytes: 3 }, 'first')
  })
  t.match(plain.lines, [{ level: 'info', thread: 'engine', bytes: 3, msg: 'first', time: /^\d{4}-.*Z$/ }])
  t.equal(plain.lines.length, 1)
  const secrets = await logged(({ log }) => {
    const canary = 'canary'
    log.info({ secret: canary, token: canary, authorization: canary, query: canary, password: canary })
    log.info({ request: { authorization: canary }, credential: { secretKey: canary, secret_key: canary } })
    log.info({ config: { deep: { deeper: new Secret(canary) } }, list: [new Secret(canary)] })
    log.info(`formatted ${String(new Secret(canary))}`)
    log.error(Object.assign(new Error('failed'), { token: new Secret(canary) }))
  })
  t.equal(secrets.lines.length, 5)
  t.notMatch(secrets.text, /canary/)
  t.equal(secrets.lines[0]?.['token'], '[redacted]')
})
