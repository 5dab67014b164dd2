/** The setting `s3.profile`: what it stands for, what wins over it, and where that is shown. */
import { test } from 'tap'
import { profileOverrides, profileText, S3_PROFILES } from '../../cli/config/s3-profiles.ts'
import { file, problemsOf, read } from './config-inputs.ts'
import { run } from './command-runner.ts'
import { ApiClient, basic } from '../support/api-client.ts'
import { putChunked } from '../support/chunked-sends.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { startProcess } from '../support/test-server.ts'
import { isDone, isError } from '../support/wire-assertions.ts'

const EXTENSIONS = 's3.extensions'
const CHUNKS = 's3.unsigned_chunks_over_http'
const HOSTNAMES = 's3.hostnames'

test('strict is the default, and what it stands for is the default of each setting', (t) => {
  for (const inputs of [{}, { flags: { 's3.profile': 'strict' } }]) {
    const { config } = read(inputs)
    t.equal(config['s3.profile'], 'strict')
    t.strictSame([config[EXTENSIONS], config[CHUNKS], config[HOSTNAMES]], [[], 'false', undefined])
    t.equal(profileText(config), 'strict')
  }
  t.end()
})

test('compatible comes from a flag, the environment or a file, and says so of each setting', (t) => {
  for (const inputs of [
    { flags: { 's3.profile': 'compatible' } },
    { environment: { OBJECT_STORE_S3_PROFILE: 'compatible' } },
    { file: file('s3.profile = "compatible"') },
  ]) {
    const { config, sources } = read(inputs)
    t.strictSame(config[EXTENSIONS], S3_PROFILES.compatible[EXTENSIONS])
    t.strictSame([config[CHUNKS], config[HOSTNAMES]], ['private', ['*']])
    t.strictSame([sources[EXTENSIONS], sources[CHUNKS], sources[HOSTNAMES]], ['profile', 'profile', 'profile'])
    t.strictSame(profileOverrides(config), [])
  }
  t.equal(
    read({ environment: { OBJECT_STORE_S3_PROFILE: 'compatible' }, flags: { 's3.profile': 'strict' } }).config[CHUNKS],
    'false',
  )
  t.match(problemsOf({ flags: { 's3.profile': 'all' } }), [/"all" is not one of strict, compatible/])
  t.end()
})

test('a setting that is named wins over the profile, whatever the source of either', (t) => {
  const { config, sources } = read({
    flags: { 's3.profile': 'compatible' },
    file: file('[s3]\nextensions = ["append"]\nunsigned_chunks_over_http = true'),
  })
  t.strictSame([config[EXTENSIONS], config[CHUNKS], config[HOSTNAMES]], [['append'], 'true', ['*']])
  t.strictSame([sources[EXTENSIONS], sources[HOSTNAMES]], ['file', 'profile'])
  t.strictSame(profileOverrides(config), [EXTENSIONS, CHUNKS])
  t.equal(profileText(config), `compatible, with ${EXTENSIONS} and ${CHUNKS} set by name`)
  const none = read({ flags: { 's3.profile': 'compatible', [EXTENSIONS]: '' } }).config
  t.strictSame(none[EXTENSIONS], [])
  const beside = read({ flags: { [EXTENSIONS]: 'append', [HOSTNAMES]: 'a.example' } }).config
  t.strictSame(profileOverrides(beside), [EXTENSIONS], 'strict says nothing about names')
  t.end()
})

test('unsigned chunks: the words of before, in a file also without quotes', (t) => {
  t.equal(read({ file: file(`${CHUNKS} = true`) }).config[CHUNKS], 'true')
  t.equal(read({ file: file(`${CHUNKS} = false`) }).config[CHUNKS], 'false')
  t.equal(read({ environment: { OBJECT_STORE_S3_UNSIGNED_CHUNKS_OVER_HTTP: 'true' } }).config[CHUNKS], 'true')
  t.equal(read({ flags: { [CHUNKS]: 'private' } }).config[CHUNKS], 'private')
  t.match(problemsOf({ flags: { [CHUNKS]: 'yes' } }), [/"yes" is not one of false, private, true/])
  t.end()
})

test('config show names the profile and the sources', async (t) => {
  const environment = { OBJECT_STORE_S3_PROFILE: 'compatible', OBJECT_STORE_S3_EXTENSIONS: 'append' }
  const { stdout } = await run(['config', 'show', '--json'], { environment, workingDirectory: t.testdir() })
  const rows = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const shown = (name: string) => rows.find((row) => row['name'] === name)
  t.match(shown('s3.profile'), { value: 'compatible', source: 'environment' })
  t.match(shown(EXTENSIONS), { value: 'append', source: 'environment' })
  t.match(shown(CHUNKS), { value: 'private', source: 'profile' })
  t.match(shown(HOSTNAMES), { value: '*', source: 'profile' })
})

test('a server says which profile runs, takes any Host in compatible and what is sent in unsigned chunks from here', async (t) => {
  const environment = { OBJECT_STORE_S3_PROFILE: 'compatible', OBJECT_STORE_S3_EXTENSIONS: 'aws-chunked' }
  const server = await startProcess({ environment })
  t.teardown(() => server.stop())
  const info = await ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY)).get('GET', '/system/info')
  t.match(info, {
    s3_profile: 'compatible',
    s3_profile_overrides: [EXTENSIONS],
    s3_extensions: ['aws-chunked'],
  })
  t.match(server.log.join('\n'), /"s3Profile":"compatible, with s3\.extensions set by name"/)
  const host = 'objectstore:9000'
  isDone(t, await server.raw('PUT', '/named', { sign: { host } }), 200, host)
  const form = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
  const payload = Buffer.alloc(20_000, 'x')
  isDone(t, await putChunked(server, '/named/key', { form, payload }), 200, form)
  isError(t, await server.raw('GET', '/named'), 'NotImplemented', 'an extension that the setting leaves out')
})
