import { chmodSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { test } from 'tap'
import { decodeMasterKey } from '../../cli/config/master-key.ts'
import { readConfig } from '../../cli/config/read-config.ts'
import { Secret } from '../../cli/config/secret.ts'
import { serverCredentials } from '../../cli/config/server-credentials.ts'
import { ExitError } from '../../cli/exit-codes.ts'
import { createLogger, type LogHandle } from '../../cli/server/logger.ts'
import { file, problemsOf, read } from './config-inputs.ts'
import { ensureQuickstartSecrets } from '../../cli/commands/quickstart/secrets.ts'

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

const given = new Set<never>()

test('quickstart secrets are made once, for the owner alone', async (t) => {
  const dataDirectory = join(t.testdir(), 'deep', 'data')
  const first = ensureQuickstartSecrets({ dataDirectory, given })
  t.equal(first.created, true)
  t.equal(statSync(first.path).mode & 0o777, 0o600)
  t.equal(statSync(dataDirectory).mode & 0o777, 0o700)
  t.strictSame(readdirSync(dataDirectory), ['secrets.env'], 'no draft is left behind')
  t.match(first.values, {
    OBJECT_STORE_CREDENTIAL_MASTER_KEY: /^[0-9a-f]{64}$/,
    OBJECT_STORE_ROOT_ACCESS_KEY: /^[A-Z0-9]{20}$/,
    OBJECT_STORE_ROOT_SECRET_KEY: /^[A-Za-z0-9_-]{40}$/,
    OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: /^[A-Za-z0-9_-]{43}$/,
    OBJECT_STORE_METRICS_SCRAPE_TOKEN: /^[A-Za-z0-9_-]{43}$/,
  })
  const second = ensureQuickstartSecrets({ dataDirectory, given })
  t.equal(second.created, false)
  t.strictSame(second.values, first.values)
  const { config, sources } = readConfig({ workingDirectory: '/', secrets: second.values })
  t.equal(config['root.secret_key']?.reveal(), first.values['OBJECT_STORE_ROOT_SECRET_KEY'])
  t.equal(sources['credential_master_key'], 'secrets file')
  const other = ensureQuickstartSecrets({ dataDirectory: join(t.testdirName, 'other'), given })
  for (const [name, value] of Object.entries(other.values)) t.not(value, first.values[name], `${name} is random`)
})

test('quickstart secrets a file that others can read is refused', async (t) => {
  const dataDirectory = t.testdir()
  const { path } = ensureQuickstartSecrets({ dataDirectory, given })
  for (const mode of [0o640, 0o604, 0o620, 0o666]) {
    chmodSync(path, mode)
    t.throws(() => ensureQuickstartSecrets({ dataDirectory, given }), /chmod 600/)
  }
  chmodSync(path, 0o400)
  t.doesNotThrow(() => ensureQuickstartSecrets({ dataDirectory, given }))
})

test('quickstart secrets a store without its secrets file gets no new master key', async (t) => {
  const dataDirectory = t.testdir()
  mkdirSync(join(dataDirectory, 'journal'))
  t.throws(
    () => ensureQuickstartSecrets({ dataDirectory, given }),
    /give the store's master key with OBJECT_STORE_CREDENTIAL_MASTER_KEY/,
  )
  t.strictSame(readdirSync(dataDirectory), ['journal'])
  const secrets = ensureQuickstartSecrets({ dataDirectory, given: new Set(['credential_master_key'] as const) })
  t.notOk('OBJECT_STORE_CREDENTIAL_MASTER_KEY' in secrets.values, 'an injected key is not stored')
  t.ok('OBJECT_STORE_ROOT_SECRET_KEY' in secrets.values)
})

test('quickstart secrets a damaged file is named by line, without its content', async (t) => {
  const dataDirectory = t.testdir()
  writeFileSync(join(dataDirectory, 'secrets.env'), '# fine\n\ncanary canary\n', { mode: 0o600 })
  const attempt = () => ensureQuickstartSecrets({ dataDirectory, given })
  t.throws(attempt, /line 3 is not NAME=VALUE$/)
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
  const plain = await logged(({ log, requestLog }) => {
    log.debug('not at this level')
    log.info({ bytes: 3 }, 'first')
    requestLog.info({ route: '/{bucket}' }, 'second')
  })
  t.match(plain.lines, [
    { level: 'info', thread: 'engine', bytes: 3, msg: 'first', time: /^\d{4}-.*Z$/ },
    { level: 'info', thread: 'engine', route: '/{bucket}', msg: 'second' },
  ])
  t.equal(plain.lines.length, 2)
  const secrets = await logged(({ log, requestLog }) => {
    const canary = 'canary'
    log.info({ secret: canary, token: canary, authorization: canary, query: canary, password: canary })
    log.info({ request: { authorization: canary }, credential: { secretKey: canary, secret_key: canary } })
    log.info({ config: { deep: { deeper: new Secret(canary) } }, list: [new Secret(canary)] })
    log.info(`formatted ${String(new Secret(canary))}`)
    log.error(Object.assign(new Error('failed'), { token: new Secret(canary) }))
    requestLog.info({ authorization: canary, signature: canary, query: canary, secretKey: new Secret(canary) })
  })
  t.equal(secrets.lines.length, 6)
  t.notMatch(secrets.text, /canary/)
  t.equal(secrets.lines[0]?.['token'], '[redacted]')
})
