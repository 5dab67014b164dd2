/** The commands that talk to a running server, each against a real listener. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { routeList } from '../../planes/management/routing/route-list.ts'
import type { CreatedAccount, IssuedCredential, IssuedToken, PolicyRecord } from '../support/management-records.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { type Outcome, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api, apiEndpoint } = server
const HERE = { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
const IN_TEN_DAYS = new Date(Date.now() + 10 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
const UNTIL = { expires_at: new RegExp(`^${IN_TEN_DAYS}T00:00:00(?:\\.0+)?Z$`) }
const asked = new Set<string>()

function ask(command: string, ...words: readonly string[]): Promise<Outcome> {
  asked.add(command)
  return run([...command.split(' '), ...words], { environment: HERE })
}

/** What a command that must succeed prints. */
async function textOf(command: string, ...words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await ask(command, ...words)
  if (exitCode !== 0) throw new Error(`${command} ${words.join(' ')}: ${exitCode} ${stderr}`)
  return stdout
}

async function jsonOf<T = Record<string, unknown>>(command: string, ...words: readonly string[]): Promise<T> {
  return JSON.parse(await textOf(command, ...words, '--json')) as T
}

test('buckets and quotas', async (t) => {
  t.match(await textOf('bucket create', 'photos'), /^name +photos\n/)
  t.match(await jsonOf('bucket create', 'held', '--object-lock'), { name: 'held', object_lock: true })
  t.match(await ask('bucket create', 'photos'), { exitCode: 1, stdout: '', stderr: /BUCKET_EXISTS, request / })
  const lines = (await textOf('bucket list')).split('\n')
  t.match(lines, [/^NAME +CREATED_AT +VERSIONING +OBJECT_LOCK$/, /^held +.+ enabled +true$/, /^photos .+ false$/, ''])
  t.same(await jsonOf('bucket list'), await api.get('GET', '/buckets'))
  t.same(await jsonOf('bucket show', 'photos'), await api.get('GET', '/buckets/photos'))
  t.match(await jsonOf('bucket versioning', 'photos'), { status: 'Off' })
  t.match(await jsonOf('bucket versioning', 'photos', 'Enabled'), { status: 'Enabled' })
  t.match(await jsonOf('bucket versioning', 'photos'), { status: 'Enabled' })
  await textOf('quota set', 'held', '--bytes', '1000')
  t.match(await jsonOf('quota show', 'held'), await api.get('GET', '/buckets/held/quota'))
  t.match(await textOf('quota show', 'held'), /^quota\.bytes +1000\nquota\.objects +unlimited\nused\.bytes +0\n/)
  t.match(await textOf('quota set', 'held', '--objects', '3'), /^quota\.bytes +1000\nquota\.objects +3\n$/)
  t.match(await textOf('quota set', 'held', '--bytes', '10GiB'), /^quota\.bytes +10737418240\nquota\.objects +3\n$/)
  t.match(await textOf('quota set', 'held', '--bytes', 'unlimited'), /^quota\.bytes +unlimited\nquota\.objects +3\n$/)
  t.match(await ask('quota set', 'held'), { exitCode: 2, stderr: /--bytes or --objects is missing/ })
  await textOf('bucket retain', 'held', 'GOVERNANCE', '--days', '3')
  t.match(await textOf('bucket retention', 'held'), /default_retention\.period\.value +3\n/)
  t.same(await jsonOf('bucket cors', 'held'), { rules: [] })
  t.match(await jsonOf('bucket retain', 'held', 'none'), { default_retention: null })
  t.match(await ask('bucket retain', 'held', 'GOVERNANCE'), { exitCode: 2, stderr: /period\.value/ })
  t.match(await ask('quota set', 'held', '--bytes', '-1'), { exitCode: 2 })
  t.match(await ask('quota set', 'held', '--bytes', '1.5'), {
    exitCode: 2,
    stderr: /--bytes: "1\.5" is not a size such as/,
  })
  t.equal(await textOf('bucket delete', 'held'), 'deleted\n')
  t.match(await ask('bucket show', 'held'), { exitCode: 4, stderr: /BUCKET_NOT_FOUND/ })
})

test('objects and versions', async (t) => {
  const directory = t.testdir({ one: 'one', two: 'twice' })
  const put = (key: string, file: string) =>
    jsonOf<{ version_id: string }>('object put', 'photos', key, join(directory, file), '--content-type', 'text/plain')
  const first = await put('a/b.txt', 'one')
  t.match(first, { size: 3, content_type: 'text/plain' })
  const second = await put('a/b.txt', 'two')
  t.match(await jsonOf('object show', 'photos', 'a/b.txt'), { size: 5, version_id: second.version_id })
  const versioned = ['photos', 'a/b.txt', '--version-id', first.version_id]
  t.match(await jsonOf('object show', ...versioned), { size: 3, is_latest: false })
  t.equal(await textOf('object get', 'photos', 'a/b.txt'), 'twice')
  t.equal(await textOf('object get', ...versioned), 'one')
  await textOf('object get', 'photos', 'a/b.txt', join(directory, 'got'))
  t.equal(readFileSync(join(directory, 'got'), 'utf8'), 'twice')
  t.same(readdirSync(directory), ['got', 'one', 'two'])
  const copied = await textOf('object copy', 'photos', 'a/b.txt', 'photos', 'copy', '--version-id', first.version_id)
  t.match(copied, /^bucket +photos\nkey +copy\n/)
  t.equal(await textOf('object get', 'photos', 'copy'), 'one')
  t.match(await jsonOf('object restore', 'photos', 'a/b.txt', first.version_id), { size: 3, is_latest: true })
  t.match(await textOf('object versions', 'photos', '--prefix', 'a/'), /^KEY .+\n(a\/b\.txt .+\n){3}$/)
  t.match(await jsonOf('verify object', ...versioned), { status: 'verified', size: 3 })
  t.match(await jsonOf('verify bucket', 'photos'), { examined: 4, verified: 4, complete: true, next_after: null })
  t.match(await jsonOf('verify bucket', 'photos', '--current'), { examined: 2, complete: true })
  t.match(await jsonOf('verify bucket', 'photos', '--after', 'a/b.txt'), { examined: 1, next_after: null })
  const partly = await ask('verify bucket', 'photos', '--maximum-entries', '1')
  t.match(partly, { exitCode: 3, stderr: /go on with --after "a\/b\.txt" --after-version-id \S+\n/ })
  t.equal(await textOf('object delete', ...versioned), 'deleted\n')
  t.match(await ask('object show', ...versioned), { exitCode: 4, stderr: /VERSION_NOT_FOUND/ })
  t.same(await jsonOf('object delete', 'photos', 'copy'), {})
  t.match(await ask('object get', 'photos', 'copy'), { exitCode: 4, stdout: '', stderr: /OBJECT_NOT_FOUND/ })
  t.match(await ask('object put', 'photos', 'k', join(directory, 'none')), {
    exitCode: 4,
    stderr: /none does not exist\n/,
  })
  t.match(await ask('object put', 'photos', 'k', directory), { exitCode: 2, stderr: /is not a file/ })
})

test('a listing says what else there is', async (t) => {
  await api.get('POST', '/buckets', { name: 'pages' })
  for (const key of ['a', 'b/1', 'b/2', 'c']) await server.raw('PUT', `/pages/${key}`, { body: key })
  const whole = await textOf('object list', 'pages', '--delimiter', '/')
  t.match(whole, /^KEY .+\na .+\nc .+\nb\/\n$/)
  const first = await textOf('object list', 'pages', '--limit', '2')
  t.match(first, /^KEY .+\na .+\nb\/1 .+\n\nthere is more: --after b\/1\n$/)
  t.match(await textOf('object list', 'pages', '--limit', '2', '--after', 'b/1'), /^KEY .+\nb\/2 .+\nc .+\n$/)
  const versions = await textOf('object versions', 'pages', '--limit', '1')
  t.match(versions, /there is more: --after a --after-version-id null\n$/)
  const next = ['--limit', '1', '--after', 'a', '--after-version-id', 'null']
  t.match(await jsonOf('object versions', 'pages', ...next), { versions: [{ key: 'b/1' }] })
  t.match(await ask('object list', 'pages', '--limit', '0'), { exitCode: 2, stderr: /INVALID_REQUEST/ })
})

test('a listing without --limit follows its pages', async (t) => {
  await api.get('POST', '/buckets', { name: 'thousands' })
  await api.get('PUT', '/buckets/thousands/versioning', { status: 'Enabled' })
  for (let count = 0; count < 1010; count += 10) {
    const keys = Array.from({ length: 10 }, (_, index) => `k-${String(count + index).padStart(4, '0')}`)
    await Promise.all(keys.map((key) => server.raw('PUT', `/thousands/${key}`, { body: key })))
  }
  for (const command of ['object list', 'object versions']) {
    const lines = (await textOf(command, 'thousands')).split('\n')
    t.equal(lines.length, 1012, `${command}: a heading, the entries, the end`)
    t.equal(lines.filter((line) => line.startsWith('KEY ')).length, 1, command)
    t.match(lines.at(-2), /^k-1009 /, command)
  }
  const { objects, next_after } = await jsonOf<{ objects: unknown[]; next_after: null }>('object list', 'thousands')
  t.same([objects.length, next_after], [1010, null])
  t.equal((await jsonOf<{ versions: unknown[] }>('object versions', 'thousands')).versions.length, 1010)
})

test('a key is that key and no other', async (t) => {
  const directory = t.testdir({ file: 'x' })
  await api.get('POST', '/buckets', { name: 'keys' })
  const keys = ['..', '.', '../../x/../b', 'a//b', '/a', 'a/', '%2e%2e', '100%', 'a b', 'a+b', 'a?b#c&d=e', 'é😀', '\\']
  for (const key of keys) {
    writeFileSync(join(directory, 'file'), key)
    t.match(await jsonOf('object put', 'keys', key, join(directory, 'file')), { key }, key)
  }
  const { objects } = await jsonOf<{ objects: { key: string }[] }>('object list', 'keys')
  t.same(objects.map(({ key }) => key).sort(), keys.toSorted(), 'as many keys as were named')
  for (const key of keys) {
    t.equal(await textOf('object get', 'keys', key), key)
    t.match(await jsonOf('object show', 'keys', key), { key })
    t.match(await jsonOf('verify object', 'keys', key), { key, status: 'verified' })
    t.match(await jsonOf('object copy', 'keys', key, 'keys', `c/${key}`), { key: `c/${key}` })
    await textOf('object delete', 'keys', key)
    t.equal((await ask('object show', 'keys', key)).exitCode, 4)
  }
})

test('what strangers named does not reach the terminal as it is', async (t) => {
  await server.raw('PUT', '/pages/%1b%5b2J%e2%80%ae', { body: 'x' })
  const list = await textOf('object list', 'pages')
  t.ok(list.includes('\\u{1b}[2J\\u{202e}'))
  t.notOk(list.includes('\u001b') || list.includes('\u202e'))
})

test('accounts, credentials, policies, tokens', async (t) => {
  const directory = t.testdir({
    'list.json': '[{"effect":"allow","actions":["s3:GetObject"],"resources":["bucket:photos/*"]}]',
    'object.json': '{"statements":[{"effect":"deny","actions":["s3:*"],"resources":["bucket:*"]}]}',
    'broken.json': '[{',
    'null.json': 'null',
    'aws.json': '{"Version":"2012-10-17","Statement":[]}',
  })
  const { account, credential } = await jsonOf<CreatedAccount>('service-account create', 'ann', '--description', 'd')
  t.match(account, { name: 'ann', description: 'd', enabled: true })
  t.match(await textOf('service-account list'), new RegExp(`^ID .+\\n${account.id} +ann +true .+\\n$`))
  t.match(await jsonOf('service-account disable', account.id), { enabled: false })
  t.match(await jsonOf('service-account enable', account.id), { enabled: true })
  const rotated = await jsonOf<IssuedCredential>('credential rotate', account.id)
  t.not(rotated.credential_id, credential.credential_id)
  t.match(await textOf('credential temporary', account.id, '--expires-in', '15m'), /\ntemporary +true\n/)
  t.match(await jsonOf('credential temporary', account.id, '--expires-at', IN_TEN_DAYS), UNTIL)
  const both = await ask('credential temporary', account.id, '--expires-at', IN_TEN_DAYS, '--expires-in', '15m')
  t.match(both, { exitCode: 2, stderr: /expires_at: must not be sent together with expires_in_seconds/ })
  const soon = await ask('credential temporary', account.id, '--expires-in', 'soon')
  t.match(soon, { exitCode: 2, stderr: /--expires-in: "soon" is not a duration such as 90s, 30m/ })
  t.match(await ask('credential temporary', account.id), { exitCode: 2, stderr: /expires_in_seconds: is missing/ })
  t.match(await jsonOf('credential disable', account.id, rotated.credential_id), { enabled: false })
  t.match(await jsonOf('credential enable', account.id, rotated.credential_id), { enabled: true })
  const create = (name: string) => ask('policy create', 'readers', join(directory, name))
  t.match(await create('broken.json'), { exitCode: 2, stderr: /broken\.json is not valid JSON/ })
  t.match(await create('null.json'), { exitCode: 2, stderr: /statements.*INVALID_REQUEST/ })
  t.match(await create('aws.json'), { exitCode: 2, stderr: /Statement: is missing/ })
  t.match(await create('none.json'), { exitCode: 4, stderr: /none\.json does not exist/ })
  t.same(await jsonOf('policy list'), { policies: [], next_after: null }, 'nothing was made')
  const policy = await jsonOf<PolicyRecord>('policy create', 'readers', join(directory, 'list.json'))
  t.match(await textOf('policy create', 'deniers', join(directory, 'object.json')), /\nname +deniers\n/)
  t.match(await textOf('policy list'), /^ID .+\n.+\n.+\n$/)
  t.equal(await textOf('policy attach', 'readers', 'ann'), 'attached\n')
  t.equal(await textOf('policy attach', policy.id, account.id), 'attached\n')
  t.match(await ask('policy attach', 'nobodys', 'ann'), {
    exitCode: 4,
    stderr: /no policy with the name or id nobodys/,
  })
  t.match(await textOf('policy show', 'readers'), /\nstatements\.0\.actions +s3:GetObject\n/)
  t.match(await jsonOf('policy show', policy.id), { accounts: [account.id] })
  t.match(await jsonOf('service-account show', account.id), { policies: [policy.id] })
  t.match(await ask('policy delete', 'readers'), { exitCode: 1, stderr: /attached to a service account.*CONFLICT/ })
  const replaced = ask('policy replace', 'readers', join(directory, 'object.json'), '--name', 'writers')
  t.match(await replaced, { exitCode: 0, stdout: /\nname +writers\n/ })
  t.match(await jsonOf('policy replace', policy.id, join(directory, 'list.json')), {
    id: policy.id,
    name: 'writers',
    created_at: policy.created_at,
    statements: policy.statements,
    accounts: [account.id],
  })
  t.equal(await textOf('policy detach', policy.id, account.id), 'detached\n')
  t.match(await ask('policy detach', policy.id, account.id), { exitCode: 4, stderr: /POLICY_NOT_ATTACHED/ })
  t.equal(await textOf('policy delete', 'writers'), 'deleted\n')
  t.match(await ask('policy delete', policy.id), { exitCode: 4, stderr: /POLICY_NOT_FOUND/ })
  t.equal(await textOf('service-account delete', account.id), 'deleted\n')
  t.equal((await ask('service-account show', account.id)).exitCode, 4)

  const issued = await jsonOf<IssuedToken>('token issue', 'auditors', 'auditor', '--expires-in', '1h')
  t.match(await textOf('token list'), new RegExp(`^ID .+\\n${issued.id} +auditors +auditor .+\\n$`))
  t.match(await jsonOf('session', '--token', issued.token), { role: 'auditor' })
  t.match(await ask('bucket create', 'no', '--token', issued.token), { exitCode: 5, stderr: /FORBIDDEN/ })
  t.equal(await textOf('token revoke', issued.id), 'revoked\n')
  t.match(await ask('session', '--token', issued.token), { exitCode: 5, stderr: /UNAUTHENTICATED/ })
  t.match(await jsonOf('token issue', 'until', 'auditor', '--expires-at', `${IN_TEN_DAYS}T00:00:00Z`), UNTIL)
})

test('lifecycle rules', async (t) => {
  await textOf('bucket create', 'aging')
  const rule = await jsonOf<{ id: string }>('lifecycle create', 'aging', '--prefix', 'logs/', '--expiration', '30')
  t.match(await textOf('lifecycle list', 'aging'), new RegExp(`^ID .+\\n${rule.id} +logs/ +true +30 +-\\n$`))
  const options = ['--noncurrent-version-expiration', '7', '--disabled']
  const { id: _, ...replaced } = await jsonOf<{ id: string }>('lifecycle replace', 'aging', rule.id, ...options)
  t.same(Object.values(replaced), ['', false, null, 7])
  t.match(await ask('lifecycle create', 'aging'), { exitCode: 2, stderr: /needs expiration/ })
  t.equal(await textOf('lifecycle delete', rule.id), 'deleted\n')
  t.match(await ask('lifecycle delete', rule.id), { exitCode: 4, stderr: /LIFECYCLE_RULE_NOT_FOUND/ })
})

test('webhooks', async (t) => {
  const target = 'https://receiver.example/hook'
  const options = ['--events', 'object.created,object.deleted', '--bucket', 'photos', '--prefix', '2026/', '--disabled']
  const created = await jsonOf<{ subscription: { id: string }; signing_secret: string }>(
    'webhook create',
    target,
    ...options,
  )
  const { id } = created.subscription
  t.match(created, { signing_secret: /^whsec_/, subscription: { enabled: false, bucket_filter: 'photos' } })
  t.match(await textOf('webhook list'), new RegExp(`${id} +${target} +object.created, object.deleted +false +0`))
  t.match(await jsonOf('webhook enable', id), { enabled: true })
  t.match(await jsonOf('webhook replay', id, '2020-01-01T00:00:00Z', '--until', '2021-01-01T00:00:00Z'), {
    replaying: true,
  })
  t.match(await ask('webhook replay', id, '2020-01-01T00:00:00Z'), { stderr: /WEBHOOK_REPLAYING/ })
  t.match(await jsonOf('webhook disable', id), { enabled: false, replaying: false })
  t.match(await jsonOf('webhook rotate-secret', id), { signing_secret: /^whsec_/ })
  t.match(await jsonOf('webhook test', id), { kind: 'test', success: true })
  t.match(
    await textOf('webhook deliveries', '--webhook-id', id, '--limit', '5'),
    new RegExp(`${id} +test-0 +1 +200 +true`),
  )
  t.match(await ask('webhook create', 'http://receiver.example/'), { stderr: /target_url: must be https/ })
  t.equal(await textOf('webhook delete', id), 'deleted\n')
})

test('shares', async (t) => {
  await api.get('POST', '/buckets', { name: 'shared' })
  await api.send('PUT', '/api/v1/buckets/shared/object/a/cat.jpg', { raw: 'cat', headers: [['content-length', '3']] })
  t.match(await jsonOf('share settings'), { enabled: true, public_share_url: 'https://files.example' })
  const options = ['--expires', '7d', '--max-downloads', '5', '--file-name', 'Katze.jpg']
  const made = await jsonOf<{ id: string; url: string }>('share create', 'shared/a/cat.jpg', ...options)
  t.match(made, { url: /^https:\/\/files\.example\/s\//, maximum_downloads: 5, file_name: 'Katze.jpg' })
  t.match(await textOf('share create', 'shared/a/cat.jpg'), /^url +https:\/\/files\.example\/s\/[\w-]{43}$/m)
  t.match(await jsonOf('share show', made.id), { key: 'a/cat.jpg', password_protected: false, status: 'active' })
  t.match(await textOf('share list', 'shared/a/cat.jpg'), new RegExp(`^${made.id} +active .+ false +0 +5 `, 'm'))
  t.equal(await textOf('share url', made.id), `url  ${made.url}\n`)
  t.match(await textOf('share revoke', made.id), /^status +revoked$/m)
  t.equal(await textOf('share delete', made.id), 'deleted\n')
  t.match(await ask('share show', made.id), { exitCode: 4, stderr: /SHARE_NOT_FOUND/ })
  const locked = ['share', 'create', 'shared/a/cat.jpg', '--password-stdin', '--json']
  const typed = (input: string) => run(locked, { environment: HERE, input })
  t.match(JSON.parse((await typed('a password\n')).stdout), { password_protected: true })
  t.match(await typed('\n'), { exitCode: 2, stderr: /no password/ })
  t.match(await typed('a\nb\n'), { exitCode: 2, stderr: /more than the one line/ })
  t.match(await typed('x'.repeat(5000)), { exitCode: 2, stderr: /too long/ })
  t.match(await ask('share list', 'shared'), { exitCode: 2, stderr: /photos\/cat\.jpg, not shared/ })
  t.match(await ask('share create', 'shared/'), { exitCode: 2, stderr: /photos\/cat\.jpg, not shared/ })
  t.match(await ask('share create', 'shared/none'), { exitCode: 4, stderr: /OBJECT_NOT_FOUND/ })
})

test('embeds', async (t) => {
  const options = ['--origins', 'https://a.example,https://b.example', '--expires', '1h', '--cache-seconds', '5']
  const made = await jsonOf<{ id: string; url: string }>('embed create', 'shared/a/cat.jpg', ...options)
  t.match(made, { url: /^https:\/\/store\.example\/embeds\/e\//, cache_seconds: 5 })
  t.match(await jsonOf('embed create', 'shared/a/cat.jpg'), { allowed_origins: ['*'], expires_at: null })
  t.match(await jsonOf('embed create', 'shared/a/cat.jpg', '--expires-at', IN_TEN_DAYS), UNTIL)
  t.match(await jsonOf('share create', 'shared/a/cat.jpg', '--expires-at', IN_TEN_DAYS), UNTIL)
  t.match(await jsonOf('embed update', made.id, '--expires-at', IN_TEN_DAYS), UNTIL)
  t.match(await jsonOf('embed show', made.id), { allowed_origins: ['https://a.example', 'https://b.example'] })
  t.match(await textOf('embed list', 'shared/a/cat.jpg'), new RegExp(`^${made.id} +active `, 'm'))
  t.match(await jsonOf('embed update', made.id, '--origins', '*'), { allowed_origins: ['*'], expires_at: String })
  t.match(await jsonOf('embed update', made.id, '--never-expires'), { expires_at: null, cache_seconds: 5 })
  t.equal(await textOf('embed url', made.id), `url  ${made.url}\n`)
  t.match(await textOf('embed revoke', made.id), /^status +revoked$/m)
  t.match(await ask('embed update', made.id, '--cache-seconds', '1'), { stderr: /EMBED_REVOKED/ })
  t.equal(await textOf('embed delete', made.id), 'deleted\n')
})

test('the system, its storage and its reports', async (t) => {
  t.match(await textOf('system info'), /\nversion +0\.0\.0-spec\n/)
  t.match(await ask('clock set-back', '--reason', 'a spec'), { stderr: /not behind the journal/ })
  t.match(await jsonOf('storage status'), { capacity_bytes: Number, available_bytes: Number })
  for (const name of ['list', 'receipts', 'witnessed']) t.match(await jsonOf(`checkpoint ${name}`), Object)
  t.match(await ask('checkpoint rotate-key'), { exitCode: 4, stderr: /CHECKPOINT_NOT_FOUND/ })
  t.same(await jsonOf('storage usage'), await api.get('GET', '/storage/usage'))
  t.match(await jsonOf('storage inspect'), { consistent: true, truncated: false })
  t.match(await jsonOf('storage scrub'), { state: 'running', damaged: 0 })
  t.match(await jsonOf('storage repair'), { dry_run: true, removed: [] })
  t.match(await jsonOf('report retention', '--bucket', 'photos'), { versions: [] })
  const metrics = await textOf('system metrics')
  t.match(metrics, /^NAME +VALUE\n(.* [-+.e0-9]+\n)+$/, 'one row for each sample')
  t.match(metrics, /\nobject_store_buckets +2\n/)
  t.notMatch(metrics, /\} +0\n/)
  t.match(
    await textOf('system history'),
    /^TIME +REQUESTS +ERRORS +REJECTED +RECEIVED +SENT +RECORDS\n(\S+Z( +\d+){6}\n)*$/,
  )
  t.match(await textOf('report retention'), /^BUCKET +KEY +VERSION_ID /)
})

test('every command was asked', async (t) => {
  const paths = routeList.flatMap(({ commands }) => commands.map(({ path }) => path))
  for (const path of paths) t.ok(asked.has(path), path)
})

test('errors as JSON', async (t) => {
  const { stderr, stdout } = await ask('object show', 'photos', 'none', '--json')
  t.equal(stdout, '')
  t.match(JSON.parse(stderr), { error: { exit: 'notFound', code: 4, message: /OBJECT_NOT_FOUND/ } })
  t.match(await ask('object show', 'photos'), { exitCode: 2, stdout: '', stderr: /object show/ })
})

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
