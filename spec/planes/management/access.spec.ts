/**
 * Service accounts, credentials, policies and management tokens as the management plane keeps them.
 * Proves: RES-ACC-04, RES-ACC-06, API-SYS-04, API-ACC-05.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { bearer } from '../../support/api-client.ts'
import type {
  AccountRecord,
  CreatedAccount,
  IssuedCredential,
  IssuedToken,
  PolicyRecord,
} from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'
import { ACCESS_KEY } from '../../support/test-clients.ts'
import { firstElement } from '../../support/wire-client.ts'

// The time of the journal never goes back: a clock of a spec begins where that of the host is.
const START = Date.now()
const YEAR_SECONDS = 365 * 24 * 60 * 60
let now = START
const server = await startManaged({ clock: () => now })
tap.teardown(() => server.stop())
const { api } = server

const ALLOW_ALL = { effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] }

function create(name: string, description?: string): Promise<CreatedAccount> {
  return api.get('POST', '/service-accounts', description === undefined ? { name } : { name, description })
}

function account(id: string): Promise<AccountRecord> {
  return api.get('GET', `/service-accounts/${id}`)
}

test('temporary credentials', async (t) => {
  const { id } = (await create('temporary')).account
  const path = `/service-accounts/${id}/temporary-credentials`
  for (const seconds of [60, 3600, YEAR_SECONDS]) {
    const issued = await api.get<IssuedCredential>('POST', path, { expires_in_seconds: seconds })
    t.equal(issued.temporary, true)
    t.equal(Date.parse(issued.expires_at ?? ''), now + seconds * 1000)
  }
  t.equal((await account(id)).credentials.length, 4)
  now += 3601 * 1000
  await api.get('POST', path, { expires_in_seconds: 60 })
  const shown = (await account(id)).credentials.map(({ status, expires_at: end }) => [status, end && Date.parse(end)])
  t.same(shown, [
    ['enabled', null],
    ['expired', START + 60_000],
    ['expired', START + 3600 * 1000],
    ['enabled', START + YEAR_SECONDS * 1000],
    ['enabled', now + 60_000],
  ])
  const { credential_id: first } = (await account(id)).credentials[0] ?? { credential_id: '' }
  const status = `/service-accounts/${id}/credentials/${first}/status`
  t.match(await api.get('PUT', status, { enabled: false }), { enabled: false, status: 'disabled' })
  const expired = (await account(id)).credentials[1]?.credential_id ?? ''
  const disabled = api.get('PUT', `/service-accounts/${id}/credentials/${expired}/status`, { enabled: false })
  t.match(await disabled, { enabled: false, status: 'expired' }, 'what has expired stays so')
  const { service_accounts: listed } = await api.get<{ service_accounts: AccountRecord[] }>('GET', '/service-accounts')
  t.same(
    listed.find((one) => one.id === id)?.credentials.map((each) => each.status),
    ['disabled', 'expired', 'expired', 'enabled', 'enabled'],
  )
})

test('a policy of AWS is translated, and refused by its statement where it cannot be', async (t) => {
  const Statement = { Effect: 'Allow', Action: 's3:getobject', Resource: 'arn:aws:s3:::a/*' }
  const statements = [{ effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:a/*'] }]
  const made = await api.get<PolicyRecord>('POST', '/policies', { name: 'p', Version: '2012-10-17', Statement })
  t.match(made, { name: 'p', statements })
  const path = `/policies/${made.id}`
  const denial = { ...Statement, Effect: 'Deny' }
  const changed = { name: 'q', statements: [{ ...statements[0], effect: 'deny' }] }
  t.match(await api.get('PUT', path, { name: 'q', Id: 'id', Statement: [denial] }), changed)
  for (const [method, at] of [
    ['POST', '/policies'],
    ['PUT', path],
  ] as const)
    for (const [body, said] of [
      [{ Version: '2012-10-17', Statement }, /name: must be a string/],
      [{ name: 'p', Version: '2012-10-17' }, /Statement: is missing/],
      [{ name: 'p', Statement, statements }, /statements: must not be sent together with Statement/],
      [
        { name: 'p', Statement: [Statement, { ...Statement, Sid: 'x', Principal: '*' }] },
        /Statement\[1\] \(Sid \\"x\\"\)\.Principal: a policy of accounts/,
      ],
      [
        { name: 'p', Statement: { ...Statement, Condition: { Bool: { 'aws:SecureTransport': 'false' } } } },
        /Statement\.Condition\.Bool: the operator/,
      ],
      [{ name: 'p', Statement: { ...Statement, Resource: 'arn:aws:s3:::a/\ud800' } }, /must be Unicode/],
    ] as const) {
      const answer = await api.call(method, at, body)
      t.equal(answer.status, 400)
      t.match(JSON.stringify(answer.json), said)
    }
  t.match(await api.get('GET', path), changed, 'a refused one changes nothing')
})

test('an account takes the keys that it is given, and nothing keeps the secret in clear', async (t) => {
  const keys = { access_key: 'old.app-key_1', secret_key: 'Kept/from+the=server!before' }
  const { credential, account: made } = await api.get<CreatedAccount>('POST', '/service-accounts', {
    name: 'moved',
    ...keys,
  })
  t.match(credential, keys)
  const sign = { accessKey: keys.access_key, secretKey: keys.secret_key }
  t.equal(
    firstElement((await server.raw('GET', '/', { sign })).text, 'Code'),
    'AccessDenied',
    'signed, without a policy',
  )
  const wrong = { sign: { ...sign, secretKey: `${keys.secret_key}x` } }
  t.equal(firstElement((await server.raw('GET', '/', wrong)).text, 'Code'), 'SignatureDoesNotMatch')
  const outcome = async (given: object) => {
    const { status, json } = await api.call('POST', '/service-accounts', { name: `given ${Math.random()}`, ...given })
    return `${status} ${(json as { error?: { message: string } }).error?.message}`
  }
  t.match(await outcome(keys), /^409 Another credential has this access key/)
  t.match(await outcome({ ...keys, access_key: ACCESS_KEY }), /^409 /, 'the access key of root')
  for (const [given, said] of [
    [{ access_key: 'alone' }, /^400 .*secret_key: is missing/],
    [{ secret_key: keys.secret_key }, /^400 .*access_key: is missing/],
    [{ ...keys, access_key: 'ab' }, /^400 .*access_key: /],
    [{ ...keys, access_key: 'a'.repeat(129) }, /^400 .*access_key: /],
    [{ ...keys, access_key: 'a/b' }, /^400 .*access_key: may contain only letters/],
    [{ ...keys, secret_key: 's'.repeat(15) }, /^400 .*secret_key: /],
    [{ ...keys, secret_key: 's'.repeat(257) }, /^400 .*secret_key: /],
    [{ ...keys, secret_key: `${keys.secret_key} ` }, /^400 .*secret_key: may contain only visible/],
  ] as const) {
    const answer = await outcome(given)
    t.match(answer, said)
    t.notMatch(answer, keys.secret_key)
  }
  t.equal((await api.call('DELETE', `/service-accounts/${made.id}`)).status, 204)
  t.equal(firstElement((await server.raw('GET', '/', { sign })).text, 'Code'), 'InvalidAccessKeyId')
  const again = { ...keys, secret_key: 'Another-secret-of-this-key' }
  t.match(await api.get<CreatedAccount>('POST', '/service-accounts', { name: 'moved', ...again }), {
    credential: again,
  })
  t.equal(
    firstElement((await server.raw('GET', '/', { sign })).text, 'Code'),
    'SignatureDoesNotMatch',
    'the secret before',
  )
  await server.journal()
  for (const path of readdirSync(server.paths.root, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue
    const bytes = readFileSync(join(path.parentPath, path.name))
    for (const { secret_key: secret } of [keys, again]) t.notOk(bytes.includes(secret), `${path.name} has no secret`)
  }
})

test('a management token expires', async (t) => {
  const body = { name: 'short', role: 'system-administrator', expires_in_seconds: 60 }
  const issued = await api.get<IssuedToken>('POST', '/management-tokens', body)
  t.equal(Date.parse(issued.expires_at ?? ''), now + 60_000)
  t.match(issued, { status: 'active' })
  const short = api.as(bearer(issued.token))
  const session = await short.call('GET', '/auth/session')
  t.match(session.json, { role: 'system-administrator', expires_at: issued.expires_at })
  now += 59_999
  t.equal((await short.call('GET', '/service-accounts')).status, 200)
  now += 1
  t.equal((await short.call('GET', '/service-accounts')).status, 401)
  t.equal((await short.call('POST', '/policies', { name: 'p', statements: [ALLOW_ALL] })).status, 401)
  const { management_tokens: listed } = await api.get<{ management_tokens: unknown[] }>('GET', '/management-tokens')
  t.match(listed, [{ id: issued.id, status: 'expired' }])
  t.equal((await api.call('DELETE', `/management-tokens/${issued.id}`)).status, 204)
})

test('credentials and tokens have the time of their last use, to the minute, for reads too', async (t) => {
  const { id } = (await create('used')).account
  const issued = await api.get<IssuedCredential>('POST', `/service-accounts/${id}/credentials`)
  t.match(issued, { last_used_at: null })
  const uses = async () => (await account(id)).credentials.map(({ last_used_at: at }) => at && Date.parse(at))
  t.same(await uses(), [null, null])
  const sign = { accessKey: issued.access_key, secretKey: issued.secret_key }
  const read = async () => {
    t.equal((await server.raw('GET', '/', { sign })).status, 403)
    await server.journal()
  }
  now = Math.ceil(now / 60_000) * 60_000
  const minute = now
  await read()
  t.same(await uses(), [null, minute], 'a request that was signed, although it was denied')
  now += 59_999
  await read()
  t.same(await uses(), [null, minute], 'one row a minute')
  now += 1
  await read()
  t.same(await uses(), [null, minute + 60_000])

  const token = await api.get<IssuedToken>('POST', '/management-tokens', { name: 'used', role: 'auditor' })
  t.match(token, { last_used_at: null })
  await api.as(bearer(token.token)).get('GET', '/buckets')
  await server.journal()
  const { management_tokens: tokens } = await api.get<{
    management_tokens: { id: string; last_used_at: string | null }[]
  }>('GET', '/management-tokens')
  t.equal(Date.parse(tokens.find((each) => each.id === token.id)?.last_used_at ?? ''), now)
})

test('ids and secrets are of their form, and none comes twice', async (t) => {
  const created = await Promise.all(Array.from({ length: 50 }, (_, index) => create(`forms ${index}`)))
  const values = created.flatMap(({ account: { id }, credential }) => [id, credential.credential_id])
  const secrets = created.flatMap(({ credential }) => [credential.access_key, credential.secret_key])
  t.equal(new Set([...values, ...secrets]).size, 200)
  for (const { account: one, credential } of created) {
    t.match(one.id, /^sa-[a-z2-7]{20}$/)
    t.match(credential.credential_id, /^cred-[a-z2-7]{20}$/)
    t.match(credential.access_key, /^OS[A-Z2-7]{18}$/)
    t.match(credential.secret_key, /^[a-z2-7]{40}$/)
  }
  const text = await server.journalText()
  t.ok(text.includes(created[0]?.account.id ?? '-'), 'the search finds what is there')
  for (const { credential } of created) t.notOk(text.includes(credential.secret_key))
})

async function messageAt(path: string): Promise<string> {
  const response = await fetch(server.apiEndpoint + path)
  return ((await response.json()) as { error: { message: string } }).error.message
}

test('a client of S3 that has the address of this listener is told so', async (t) => {
  for (const path of ['/', '/photos', '/photos/cat.png?versionId=x', '/api/v2/buckets']) {
    t.match(await messageAt(path), /at this path\. Those of the management listener begin with \/api\/v1; S3 has/, path)
  }
  t.equal(await messageAt('/api/v1/photos'), 'Nothing exists at this path.')
})

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
