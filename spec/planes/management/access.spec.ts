/** Service accounts, credentials, policies and management tokens as the management plane keeps them. */
import tap, { test } from 'tap'
import { bearer } from '../../support/api-client.ts'
import type {
  AccountRecord,
  CreatedAccount,
  CredentialRecord,
  IssuedCredential,
  IssuedToken,
  PolicyRecord,
  TokenRecord,
} from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'

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

function policy(name: string, ...statements: unknown[]): Promise<PolicyRecord> {
  return api.get('POST', '/policies', { name, statements })
}

test('an account and its first credential', async (t) => {
  const description = 'writes "backups" \u{1f4be} at night'
  const created = await create('backup', description)
  const { secret_key: secretKey, ...shown } = created.credential
  t.match(created.account, { name: 'backup', description, enabled: true, policies: [], credentials: [shown] })
  t.match(shown, { enabled: true, temporary: false, expires_at: null })
  t.match(created.account.created_at, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  t.same(await account(created.account.id), created.account, 'the same record, ever after without the secret')
  t.notOk(JSON.stringify(await account(created.account.id)).includes(secretKey))
  const listed = await api.get<{ service_accounts: AccountRecord[] }>('GET', '/service-accounts')
  t.same(listed.service_accounts, [created.account])
  t.equal(
    server.secrets.open(server.access.credential(shown.access_key)?.sealedSecret ?? Buffer.alloc(0), shown.access_key),
    secretKey,
  )
  t.same((await create('backup')).account.description, '', 'names may repeat, descriptions may be left out')
  t.equal((await api.call('POST', '/service-accounts', { name: 'n'.repeat(128) })).status, 201)
})

test('an account is disabled, enabled, deleted', async (t) => {
  const { id } = (await create('status')).account
  for (const enabled of [false, false, true]) {
    const changed = await api.get<AccountRecord>('PUT', `/service-accounts/${id}/status`, { enabled })
    t.equal(changed.enabled, enabled)
    t.same(await account(id), changed)
  }
  t.equal((await api.call('DELETE', `/service-accounts/${id}`)).status, 204)
  for (const [method, path, body] of [
    ['GET', ''],
    ['DELETE', ''],
    ['PUT', '/status', { enabled: true }],
    ['POST', '/credentials'],
    ['POST', '/temporary-credentials', { expires_in_seconds: 60 }],
    ['PUT', '/credentials/cred-x/status', { enabled: true }],
  ] as const) {
    t.equal((await api.call(method, `/service-accounts/${id}${path}`, body)).code, 'ACCOUNT_NOT_FOUND', method + path)
  }
})

test('rotation: a new credential beside the old one', async (t) => {
  const created = await create('rotated')
  const path = `/service-accounts/${created.account.id}`
  const { secret_key: _secret, ...second } = await api.get<IssuedCredential>('POST', `${path}/credentials`)
  const third = await api.call('POST', `${path}/credentials`, {})
  t.equal(third.status, 201, 'an empty object is as good as no body')
  t.match((await account(created.account.id)).credentials, [created.account.credentials[0], second, {}])
  const status = `${path}/credentials/${second.credential_id}/status`
  t.same(await api.get<CredentialRecord>('PUT', status, { enabled: false }), { ...second, enabled: false })
  t.equal((await account(created.account.id)).credentials[1]?.enabled, false)
  t.same(await api.get<CredentialRecord>('PUT', status, { enabled: true }), second)
  const other = await create('other')
  const foreign = `/service-accounts/${other.account.id}/credentials/${second.credential_id}/status`
  t.equal((await api.call('PUT', foreign, { enabled: false })).code, 'CREDENTIAL_NOT_FOUND')
})

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
  t.same(
    (await account(id)).credentials.map(({ temporary, expires_at: end }) => [temporary, end && Date.parse(end)]),
    [
      [false, null],
      [true, START + YEAR_SECONDS * 1000],
      [true, now + 60_000],
    ],
    'those that have expired made room',
  )
})

test('an account has so many credentials, and a disabled one makes room', async (t) => {
  const created = await create('many')
  const path = `/service-accounts/${created.account.id}`
  for (let count = 1; count < 100; count += 1) await api.get('POST', `${path}/credentials`)
  const refused = await api.call('POST', `${path}/credentials`)
  t.equal(refused.code, 'TOO_MANY_CREDENTIALS')
  const first = created.credential.credential_id
  await api.get('PUT', `${path}/credentials/${first}/status`, { enabled: false })
  t.equal((await api.call('POST', `${path}/credentials`)).status, 201)
  const { credentials } = await account(created.account.id)
  t.equal(credentials.length, 100)
  t.notOk(credentials.some((one) => one.credential_id === first))
})

test('policies', async (t) => {
  const statements = [
    ALLOW_ALL,
    { effect: 'deny', actions: ['s3:DeleteObjectVersion', 's3:Put*'], resources: ['bucket:a', 'bucket:b/é/\n*'] },
  ]
  const created = await policy('p', ...statements)
  t.match(created, { name: 'p', statements, accounts: [] })
  t.same(await api.get<PolicyRecord>('GET', `/policies/${created.id}`), created)
  const { policies } = await api.get<{ policies: PolicyRecord[] }>('GET', '/policies')
  t.same(policies, [created])
  t.equal((await api.call('GET', '/policies/pol-none')).code, 'POLICY_NOT_FOUND')
})

test('a policy says nothing that cannot be meant', async (t) => {
  const wrong: [statement: unknown, message: string][] = [
    [{ ...ALLOW_ALL, effect: 'Allow' }, 'statements[0].effect: must be allow or deny'],
    [{ ...ALLOW_ALL, sid: 'x' }, 'statements[0].sid: there is no such field'],
    [{ ...ALLOW_ALL, actions: [] }, 'statements[0].actions: must have 1 to 100 items'],
    [{ ...ALLOW_ALL, actions: 's3:*' }, 'statements[0].actions: must be a list'],
    [{ ...ALLOW_ALL, actions: ['s3:*', 's3:GetObjekt'] }, 'statements[0].actions[1]: there is no such action'],
    [{ ...ALLOW_ALL, actions: ['s3:getobject'] }, 'statements[0].actions[0]: there is no such action'],
    [{ ...ALLOW_ALL, actions: ['s3:*Object'] }, 'statements[0].actions[0]: a wildcard may stand only at the end'],
    [{ ...ALLOW_ALL, actions: ['iam:*'] }, 'statements[0].actions[0]: no action begins like this'],
    [{ ...ALLOW_ALL, actions: ['s3:GetObjectAcl'] }, 'statements[0].actions[0]: there is no such action'],
    [{ ...ALLOW_ALL, actions: ['s3:Preflight'] }, 'statements[0].actions[0]: there is no such action'],
    [{ ...ALLOW_ALL, actions: [''] }, 'statements[0].actions[0]: must have 1 to 1152 characters'],
    [{ ...ALLOW_ALL, resources: ['bucket:a*b'] }, 'statements[0].resources[0]: a wildcard may stand only at the end'],
    [{ ...ALLOW_ALL, resources: ['arn:aws:s3:::a/*'] }, 'statements[0].resources[0]: a resource begins with bucket:'],
    [{ ...ALLOW_ALL, resources: ['bucket:'] }, 'statements[0].resources[0]: a resource names a bucket'],
    [{ ...ALLOW_ALL, resources: [null] }, 'statements[0].resources[0]: must be a text'],
    [{ ...ALLOW_ALL, resources: ['bucket:b/\ud800'] }, 'statements[0].resources[0]: must be Unicode'],
    [{ effect: 'allow', actions: ['s3:*'] }, 'statements[0].resources: must be a list'],
    [[], 'statements[0]: must be an object'],
    ['allow', 'statements[0]: must be an object'],
  ]
  for (const [statement, message] of wrong) {
    const answer = await api.call('POST', '/policies', { name: 'p', statements: [statement] })
    t.equal(answer.status, 400)
    t.equal(answer.message, message)
  }
  const resource = `bucket:${'b'.repeat(150)}`
  const large = (count: number) => ({ ...ALLOW_ALL, resources: Array.from({ length: count }, () => resource) })
  t.equal((await api.call('POST', '/policies', { name: 'p', statements: [large(100)] })).status, 201)
  const larger = await api.call('POST', '/policies', { name: 'p', statements: [large(100), large(3)] })
  t.equal(larger.message, 'statements: must have at most 16384 bytes together')
  const many = Array.from({ length: 100 }, () => ALLOW_ALL)
  t.equal((await api.call('POST', '/policies', { name: 'p', statements: many })).status, 201)
  t.equal((await api.call('POST', '/policies', { name: 'p', statements: [...many, ALLOW_ALL] })).status, 400)
})

test('policies are attached and detached', async (t) => {
  const { id } = (await create('bound')).account
  const first = await policy('first', ALLOW_ALL)
  const second = await policy('second', ALLOW_ALL)
  const binding = (one: string) => `/policies/${one}/bindings/${id}`
  for (const one of [first.id, first.id, second.id]) t.equal((await api.call('PUT', binding(one))).status, 204)
  t.same((await account(id)).policies, [first.id, second.id])
  t.same((await api.get<PolicyRecord>('GET', `/policies/${first.id}`)).accounts, [id])
  t.equal((await api.call('DELETE', binding(first.id))).status, 204)
  t.equal((await api.call('DELETE', binding(first.id))).code, 'POLICY_NOT_ATTACHED')
  t.same((await account(id)).policies, [second.id])
  for (const method of ['PUT', 'DELETE']) {
    t.equal((await api.call(method, binding('pol-none'))).code, 'POLICY_NOT_FOUND')
    t.equal((await api.call(method, `/policies/${first.id}/bindings/sa-none`)).code, 'ACCOUNT_NOT_FOUND')
  }
  await api.call('DELETE', `/service-accounts/${id}`)
  t.same((await api.get<PolicyRecord>('GET', `/policies/${second.id}`)).accounts, [])
})

test('management tokens', async (t) => {
  const issued = await api.get<IssuedToken>('POST', '/management-tokens', { name: 'ci', role: 'auditor' })
  const { token, ...shown } = issued
  t.match(shown, { name: 'ci', role: 'auditor', expires_at: null })
  const { management_tokens: listed } = await api.get<{ management_tokens: TokenRecord[] }>('GET', '/management-tokens')
  t.same(listed, [shown], 'the token itself is shown once')
  const auditor = api.as(bearer(token))
  t.match((await auditor.call('GET', '/auth/session')).json, { role: 'auditor', credential_id: issued.id })
  t.equal((await api.call('DELETE', `/management-tokens/${issued.id}`)).status, 204)
  t.equal((await auditor.call('GET', '/auth/session')).status, 401, 'from the very next request on')
  t.equal((await api.call('DELETE', `/management-tokens/${issued.id}`)).code, 'TOKEN_NOT_FOUND')
})

test('a management token expires', async (t) => {
  const body = { name: 'short', role: 'system-administrator', expires_in_seconds: 60 }
  const issued = await api.get<IssuedToken>('POST', '/management-tokens', body)
  t.equal(Date.parse(issued.expires_at ?? ''), now + 60_000)
  const short = api.as(bearer(issued.token))
  const session = await short.call('GET', '/auth/session')
  t.match(session.json, { role: 'system-administrator', expires_at: issued.expires_at })
  now += 59_999
  t.equal((await short.call('GET', '/service-accounts')).status, 200)
  now += 1
  t.equal((await short.call('GET', '/service-accounts')).status, 401)
  t.equal((await short.call('POST', '/policies', { name: 'p', statements: [ALLOW_ALL] })).status, 401)
})

test('ids and secrets are of their form, and none comes twice', async (t) => {
  const created = await Promise.all(Array.from({ length: 50 }, () => create('forms')))
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

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
