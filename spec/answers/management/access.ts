/**
 * Service accounts, credentials, policies and tokens.
 * Proves: RES-ACC-01, RES-ACC-02, RES-ACC-03, RES-ACC-04, RES-ACC-05, RES-ACC-06, RES-POL-01, RES-POL-04, RES-POL-05,
 * API-ACC-01, API-ACC-02, API-ACC-03, API-ACC-04, API-ACC-06, API-POL-01, API-POL-02, AUT-MGT-01, AUT-MGT-03,
 * EVT-AUD-05.
 */
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { bearer, makeScene, STATEMENTS } from './scene.ts'
import { spoiledObjects } from './variations.ts'

const post = (talk: Talk, path: string, body: unknown) => talk.api('POST', path, { body: JSON.stringify(body) })
const put = (talk: Talk, path: string, body: unknown) => talk.api('PUT', path, { body: JSON.stringify(body) })

const UNKNOWN: readonly string[] = ['x', `sa-${'a'.repeat(20)}`, '%00', '%FF', `SA-${'A'.repeat(20)}`, 'a%2Fb']

async function accounts(talk: Talk): Promise<void> {
  await talk.api('GET', '/service-accounts')
  for (const body of spoiledObjects({ name: 'an account', description: 'words' }))
    await post(talk, '/service-accounts', body)
  await post(talk, '/service-accounts', { name: 'n'.repeat(128), description: 'd'.repeat(1024) })
  await post(talk, '/service-accounts', { name: 'n'.repeat(129) })
  await post(talk, '/service-accounts', { name: 'n', description: 'd'.repeat(1025) })
  const made = await post(talk, '/service-accounts', { name: 'the account' })
  await post(talk, '/service-accounts', { name: 'The Account' })
  const path = `/service-accounts/${made.member('id')}`
  await talk.api('GET', '/service-accounts')
  await talk.api('GET', path)
  for (const body of spoiledObjects({ enabled: true })) await put(talk, `${path}/status`, body)
  await put(talk, `${path}/status`, { enabled: false })
  await talk.api('GET', path)
  await put(talk, `${path}/status`, { enabled: true })
  const credential = await talk.api('POST', `${path}/credentials`)
  const status = `${path}/credentials/${credential.member('credential_id')}/status`
  for (const body of spoiledObjects({ enabled: false })) await put(talk, status, body)
  const seconds = [60, 59, 0, -1, 31_536_000, 31_536_001, 3600.5, '60', null, 1e30]
  for (const value of seconds) await post(talk, `${path}/temporary-credentials`, { expires_in_seconds: value })
  await talk.api('POST', `${path}/temporary-credentials`)
  await post(talk, `${path}/credentials`, { expires_in_seconds: 60 })
  await talk.api('GET', path)
  for (const id of UNKNOWN) {
    await talk.api('GET', `/service-accounts/${id}`)
    await talk.api('DELETE', `/service-accounts/${id}`)
    await put(talk, `/service-accounts/${id}/status`, { enabled: true })
    await post(talk, `/service-accounts/${id}/credentials`, {})
    await put(talk, `${path}/credentials/${id}/status`, { enabled: true })
  }
  await talk.api('DELETE', path)
  await talk.api('DELETE', path)
  await talk.api('GET', path)
  await talk.api('GET', '/service-accounts')
}

async function tooMany(talk: Talk): Promise<void> {
  const made = await post(talk, '/service-accounts', { name: 'an account with too many' })
  const path = `/service-accounts/${made.member('id')}`
  for (let count = 0; count < 100; count += 1) await talk.api('POST', `${path}/credentials`)
  await put(talk, `${path}/credentials/${made.member('credential_id')}/status`, { enabled: false })
  await talk.api('POST', `${path}/credentials`)
  await talk.api('POST', `${path}/credentials`)
  for (let count = 0; count < 101; count += 1) {
    const policy = await post(talk, '/policies', { name: `policy ${count}`, statements: STATEMENTS })
    await talk.api('PUT', `/policies/${policy.member('id')}/bindings/${made.member('id')}`)
  }
  await talk.api('GET', path)
}

const ACTIONS: readonly string[] = [
  '*',
  's3:*',
  's3:Get*',
  's3:GetObject',
  's3:getobject',
  's3:None',
  's3:G*t',
  'S3:*',
  '',
  ' ',
]
const RESOURCES: readonly string[] = [
  '*',
  'bucket:*',
  'bucket:a*',
  'bucket:name',
  'bucket:name/*',
  'bucket:name/key',
  'bucket:',
  'bucket:a/*/b',
  'arn:aws:s3:::name',
  'service',
  'bucket:ä/ö',
  `bucket:${'k'.repeat(1145)}`,
  `bucket:${'k'.repeat(1146)}`,
]

const statement = (part: object) => ({ name: 'p', statements: [{ ...STATEMENTS[0], ...part }] })
const many = (count: number) => Array.from({ length: count }, (_, index) => `bucket:b${index}/*`)

async function policies(talk: Talk): Promise<void> {
  await talk.api('GET', '/policies')
  const good = { name: 'a policy', statements: STATEMENTS }
  for (const body of spoiledObjects(good)) await post(talk, '/policies', body)
  for (const action of ACTIONS) await post(talk, '/policies', statement({ actions: [action] }))
  for (const resource of RESOURCES) await post(talk, '/policies', statement({ resources: [resource] }))
  for (const effect of ['deny', 'Allow', 'ALLOW']) await post(talk, '/policies', statement({ effect }))
  for (const count of [100, 101]) await post(talk, '/policies', statement({ resources: many(count) }))
  for (const count of [100, 101]) {
    await post(talk, '/policies', { name: 'p', statements: Array.from({ length: count }, () => STATEMENTS[0]) })
  }
  const long = Array.from({ length: 20 }, (_, index) => `bucket:b${index}/${'k'.repeat(1000)}`)
  await post(talk, '/policies', statement({ resources: long }))
  const made = await post(talk, '/policies', good)
  const account = await post(talk, '/service-accounts', { name: 'an account' })
  const path = `/policies/${made.member('id')}`
  const binding = `${path}/bindings/${account.member('id')}`
  for (const method of ['DELETE', 'PUT', 'PUT']) await talk.api(method, binding)
  await talk.api('PUT', binding, { body: '{}' })
  await talk.api('GET', path)
  await talk.api('GET', `/service-accounts/${account.member('id')}`)
  for (const id of UNKNOWN) {
    await talk.api('GET', `/policies/${id}`)
    await talk.api('PUT', `${path}/bindings/${id}`)
    await talk.api('DELETE', `${path}/bindings/${id}`)
    await talk.api('PUT', `/policies/${id}/bindings/${account.member('id')}`)
    await talk.api('DELETE', `/policies/${id}/bindings/${account.member('id')}`)
  }
  for (const body of spoiledObjects(good)) await talk.api('PUT', path, { body: JSON.stringify(body) })
  await talk.api('PUT', path, { body: JSON.stringify(statement({ effect: 'deny' })) })
  await talk.api('GET', path)
  await talk.api('DELETE', path)
  for (const method of ['DELETE', 'DELETE']) await talk.api(method, binding)
  for (const method of ['DELETE', 'DELETE']) await talk.api(method, path)
  await talk.api('PUT', path, { body: JSON.stringify(good) })
  await talk.api('GET', '/policies')
}

async function tokens(talk: Talk): Promise<void> {
  await talk.api('GET', '/management-tokens')
  const good = { name: 'a token', role: 'auditor', expires_in_seconds: 3600 }
  for (const body of spoiledObjects(good)) await post(talk, '/management-tokens', body)
  for (const role of ['system-administrator', 'storage-administrator', 'root', 'Auditor']) {
    await post(talk, '/management-tokens', { ...good, role })
  }
  for (const value of [59, 60, 31_536_000, 31_536_001]) {
    await post(talk, '/management-tokens', { ...good, expires_in_seconds: value })
  }
  const made = await post(talk, '/management-tokens', { name: 'the token', role: 'auditor' })
  const as = bearer('the token', made.member('token'))
  await talk.api('GET', '/auth/session', { as })
  await talk.api('DELETE', `/management-tokens/${made.member('id')}`, { as })
  await talk.api('DELETE', `/management-tokens/${made.member('id')}`)
  await talk.api('GET', '/auth/session', { as })
  await talk.api('DELETE', `/management-tokens/${made.member('id')}`)
  for (const id of UNKNOWN) await talk.api('DELETE', `/management-tokens/${id}`)
  await talk.api('GET', '/management-tokens')
  for (const id of ['system', 'root']) await talk.api('DELETE', `/management-tokens/${id}`)
}

async function requestIds(talk: Talk): Promise<void> {
  const scene = await makeScene(talk)
  const ids = ['of-a-client', 'a.b_c-1', '', ' ', 'a b', 'ä', '<a>', 'i'.repeat(128), 'i'.repeat(129), 'a/b', 'a,b']
  for (const id of ids) {
    const headers = [`x-request-id: ${id}`]
    await talk.api('GET', '/auth/session', { headers })
    await talk.api('GET', `/buckets/${scene.values['bucket']}-none`, { headers })
    await talk.api('PUT', `/buckets/${scene.values['bucket']}/object/key`, { headers, body: 'b' })
    await talk.api('GET', '/none', { headers, as: null })
  }
  await talk.api('GET', '/auth/session', { headers: ['x-request-id: one', 'x-request-id: two'] })
}

export const ACCESS_BLOCKS: readonly Block[] = [
  { name: 'api-accounts', alone: true, run: accounts },
  { name: 'api-too-many', run: tooMany },
  { name: 'api-policies', alone: true, run: policies },
  { name: 'api-tokens', alone: true, run: tokens },
  { name: 'api-request-ids', run: requestIds },
]
