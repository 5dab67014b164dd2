/** Secrets that are handed over as files, by variables that end in _FILE. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'tap'
import { configTable, environmentName } from '../../cli/config/config-table.ts'
import { settingByFileVariable } from '../../cli/config/secret-variables.ts'
import { run } from './command-runner.ts'
import { problemsOf, read } from './config-inputs.ts'

const hexadecimalKey = '0123456789abcdef'.repeat(4)

test('secrets come from files that variables name', async (t) => {
  const canary = 'canary-0123456789-canary-0123456789'
  const directory = t.testdir({
    key: `${hexadecimalKey}\n`,
    root: canary,
    access: 'root\r\n',
    empty: '\n',
    long: 'a'.repeat(5000),
  })
  const inputs = (environment: Readonly<Record<string, string>>) => ({ environment, workingDirectory: directory })
  const { config, sources } = read(
    inputs({
      OBJECT_STORE_CREDENTIAL_MASTER_KEY_FILE: 'key',
      OBJECT_STORE_CREDENTIAL_MASTER_KEY: '',
      OBJECT_STORE_ROOT_SECRET_KEY_FILE: join(directory, 'root'),
      OBJECT_STORE_ROOT_ACCESS_KEY_FILE: 'access',
      OBJECT_STORE_METRICS_SCRAPE_TOKEN_FILE: '',
    }),
  )
  t.equal(config['credential_master_key']?.reveal(), hexadecimalKey)
  t.equal(config['root.secret_key']?.reveal(), canary)
  t.equal(config['root.access_key'], 'root')
  t.equal(config['metrics.scrape_token'], undefined)
  t.equal(sources['root.secret_key'], 'environment')
  const problem = (environment: Readonly<Record<string, string>>) => problemsOf(inputs(environment))
  const KEY = 'OBJECT_STORE_CREDENTIAL_MASTER_KEY'
  t.same(problem({ [KEY]: hexadecimalKey, [`${KEY}_FILE`]: 'key' }), [
    `${KEY}_FILE: ${KEY} is set as well; keep one of the two`,
  ])
  const path = (name: string) => join(directory, name)
  t.same(problem({ [`${KEY}_FILE`]: 'root' }), [
    `${KEY}_FILE: ${path('root')}: must be 64 hexadecimal digits or the base64 of exactly 32 bytes`,
  ])
  t.same(problem({ [`${KEY}_FILE`]: 'empty' }), [`${KEY}_FILE: ${path('empty')} is empty`])
  t.same(problem({ [`${KEY}_FILE`]: 'long' }), [
    `${KEY}_FILE: ${path('long')} is longer than 4096 bytes, too long for a secret`,
  ])
  t.match(problem({ [`${KEY}_FILE`]: 'none', OBJECT_STORE_LOG_LEVEL: 'x' }), [
    /_FILE: .*none cannot be read: ENOENT/,
    /x/,
  ])
  t.match(problem({ [`${KEY}_FILE`]: '.' }), [/cannot be read: EISDIR/])
  t.match(problem({ OBJECT_STORE_ROOT_SECRET_KEY_FIL: 'x' }), [/did you mean OBJECT_STORE_ROOT_SECRET_KEY_FILE\?/])
  t.match(problem({ OBJECT_STORE_LOG_LEVEL_FILE: 'x' }), [/unknown setting/], 'no secret')
  t.match(problemsOf({ secrets: { [`${KEY}_FILE`]: 'key' } }), [/_FILE: unknown setting/], 'not in a secrets file')
})

test('every setting that is secret can be in a file', async (t) => {
  const secrets = configTable.filter(({ kind }) => kind === 'secret')
  t.ok(secrets.length >= 4)
  for (const { name } of secrets) t.ok(settingByFileVariable.has(`${environmentName(name)}_FILE`), name)
})

test('the settings and the environment that are shipped as examples are valid', async (t) => {
  const path = 'cli/packaging/object-store.toml'
  const text = readFileSync(path, 'utf8')
  t.equal(read({ file: { path, text } }).config.data_dir, '/var/lib/object-store')
  // What is commented out is to be valid, too.
  const tls = read({ file: { path, text: text.replaceAll('# tls_', 'tls_') } }).config
  t.equal(tls['console.tls_key_file'], '/etc/object-store/key.pem')
  const secrets = t.testdir()
  const lines = readFileSync('cli/packaging/environment.example', 'utf8').replaceAll(/^# (?=OBJECT_STORE_)/gm, '')
  const environment = Object.fromEntries(
    [...lines.matchAll(/^(OBJECT_STORE_[A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']) => {
      if (!value.startsWith('/run/secrets/')) return [name, value]
      const file = join(secrets, value.slice('/run/secrets/'.length))
      writeFileSync(file, hexadecimalKey)
      return [name, file]
    }),
  )
  const { config } = read({ environment })
  t.equal(config['management.system_token']?.reveal(), hexadecimalKey)
  t.equal(config['log.requests'], 'errors')
})

/** Tokens that a server was sent. */
async function sentBy(directory: string, variables: Readonly<Record<string, string>>): Promise<string[]> {
  const sent: string[] = []
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization ?? '')
    response.end('{"data":[]}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await run(['policy', 'list'], {
    environment: { OBJECT_STORE_URL: url, ...variables },
    workingDirectory: directory,
  })
  server.close()
  return sent
}

test('the token of a command comes from a file that a variable names', async (t) => {
  const directory = t.testdir({ token: 'of-the-file\n' })
  t.same(await sentBy(directory, { OBJECT_STORE_TOKEN_FILE: 'token' }), ['Bearer of-the-file'])
  t.same(await sentBy(directory, { OBJECT_STORE_TOKEN_FILE: '', OBJECT_STORE_TOKEN: 'own' }), ['Bearer own'])
  const fails = async (variables: Readonly<Record<string, string>>) =>
    run(['policy', 'list'], { environment: variables, workingDirectory: directory })
  const both = await fails({ OBJECT_STORE_TOKEN_FILE: 'token', OBJECT_STORE_TOKEN: 'own' })
  t.match(both, { exitCode: 2, stderr: /both set; keep one of the two/ })
  t.match(await fails({ OBJECT_STORE_TOKEN_FILE: 'none' }), { exitCode: 2, stderr: /none cannot be read/ })
})
