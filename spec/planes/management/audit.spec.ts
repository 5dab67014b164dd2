/** What the audit records of changes on the management plane say, and what they keep to themselves. */
import tap, { test } from 'tap'
import type { ApiAnswer } from '../../support/api-client.ts'
import type { CreatedAccount, IssuedCredential, IssuedToken, PolicyRecord } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server
const ACCOUNTS = '/api/v1/service-accounts'

/** The records of one answer, as far as they are compared here. */
async function recordsOf({ requestId }: ApiAnswer) {
  const entries = (await server.journal()).filter((entry) => entry.requestId === requestId)
  return entries.map(({ operation, resource, result, details, changes, sequence, intent }) => {
    return { operation, resource, result, details, changes: changes.map(({ name }) => name), sequence, intent }
  })
}

type Details = Readonly<Record<string, string | number>>

/** An attempt and a success that names it. */
function pair(operation: string, path: string, details: Details, ...changes: string[]) {
  const common = { operation: `${operation} ${path}`, resource: path }
  return [
    { ...common, result: 'attempted', intent: undefined, changes: [], details: new Map(Object.entries(details)) },
    { ...common, result: 'success', changes, details: new Map(Object.entries(details)) },
  ]
}

test('each change has an attempt, and an outcome with what was changed', async (t) => {
  const created = await api.call('POST', '/service-accounts', {
    name: 'canary-name',
    description: 'canary-description',
  })
  const { account, credential } = created.json as CreatedAccount
  const { id } = account
  const first = { id, credential_id: credential.credential_id }
  const rotated = await api.call('POST', `/service-accounts/${id}/credentials`)
  const second = { id, credential_id: (rotated.json as IssuedCredential).credential_id }
  const temporary = await api.call('POST', `/service-accounts/${id}/temporary-credentials`, { expires_in_seconds: 60 })
  const third = { id, credential_id: (temporary.json as IssuedCredential).credential_id }
  const policy = await api.call('POST', '/policies', {
    name: 'canary-name',
    statements: [{ effect: 'allow', actions: ['s3:*'], resources: ['bucket:canary-bucket/*'] }],
  })
  const policyId = (policy.json as PolicyRecord).id
  const binding = { policy_id: policyId, account_id: id }
  const bindingPath = `/policies/${policyId}/bindings/${id}`
  const token = await api.call('POST', '/management-tokens', { name: 'canary-name', role: 'auditor' })
  const tokenId = (token.json as IssuedToken).id
  const BINDING = '/api/v1/policies/{policy_id}/bindings/{account_id}'
  const STATUS = `${ACCOUNTS}/{id}/credentials/{credential_id}/status`
  const secondStatus = `/service-accounts/${id}/credentials/${second.credential_id}/status`

  const expected: [answer: ApiAnswer, records: unknown][] = [
    [created, pair('POST', ACCOUNTS, first, 'account.created', 'credential.issued')],
    [rotated, pair('POST', `${ACCOUNTS}/{id}/credentials`, second, 'credential.issued')],
    [temporary, pair('POST', `${ACCOUNTS}/{id}/temporary-credentials`, third, 'credential.issued')],
    [policy, pair('POST', '/api/v1/policies', { policy_id: policyId }, 'policy.created')],
    [await api.call('PUT', bindingPath), pair('PUT', BINDING, binding, 'policy.attached')],
    [await api.call('PUT', bindingPath), pair('PUT', BINDING, binding)],
    [await api.call('DELETE', bindingPath), pair('DELETE', BINDING, binding, 'policy.detached')],
    [
      await api.call('PUT', secondStatus, { enabled: false }),
      pair('PUT', STATUS, { ...second, enabled: 'false' }, 'credential.status-set'),
    ],
    [
      await api.call('PUT', `/service-accounts/${id}/status`, { enabled: false }),
      pair('PUT', `${ACCOUNTS}/{id}/status`, { id, enabled: 'false' }, 'account.status-set'),
    ],
    [token, pair('POST', '/api/v1/management-tokens', { id: tokenId, role: 'auditor' }, 'token.issued')],
    [
      await api.call('DELETE', `/management-tokens/${tokenId}`),
      pair('DELETE', '/api/v1/management-tokens/{id}', { id: tokenId }, 'token.revoked'),
    ],
    [
      await api.call('DELETE', `/service-accounts/${id}`),
      pair('DELETE', `${ACCOUNTS}/{id}`, { id }, 'account.deleted'),
    ],
  ]
  for (const [answer, records] of expected) {
    const actual = await recordsOf(answer)
    t.match(actual, records as object, actual[0]?.operation ?? 'no record')
    t.equal(actual.length, 2)
    t.equal(actual[1]?.intent, actual[0]?.sequence)
  }
})

test('a change that is refused has an attempt as well', async (t) => {
  const refused: [answer: ApiAnswer, status: number, error: string][] = [
    [await api.call('DELETE', '/service-accounts/sa-none'), 404, 'account-not-found'],
    [await api.call('PUT', '/service-accounts/sa-none/status', { enabled: true }), 404, 'ACCOUNT_NOT_FOUND'],
    [await api.call('POST', '/service-accounts', { name: '' }), 400, 'INVALID_REQUEST'],
    [await api.call('DELETE', '/service-accounts/%ff'), 400, 'INVALID_REQUEST'],
    [await api.call('DELETE', '/service-accounts/x?force=1'), 400, 'INVALID_REQUEST'],
    [await api.send('POST', ACCOUNTS, { raw: ' '.repeat(1024 ** 2 + 1) }), 413, 'BODY_TOO_LARGE'],
  ]
  for (const [answer, status, error] of refused) {
    t.equal(answer.status, status)
    const [attempt, outcome, ...more] = await recordsOf(answer)
    t.same(more, [])
    t.match(attempt, { result: 'attempted', changes: [] })
    t.match(outcome, { result: 'failure', changes: [], intent: attempt?.sequence })
    t.equal(outcome?.details.get('error'), error)
    t.notOk(attempt?.details.has('error'))
  }
})

test('a read has one record', async (t) => {
  for (const [path, result, error] of [
    ['/service-accounts', 'success', undefined],
    ['/policies/pol-none', 'failure', 'POLICY_NOT_FOUND'],
    ['/policies/%ff', 'failure', 'INVALID_REQUEST'],
    ['/policies?x=1', 'failure', 'INVALID_REQUEST'],
    ['/webhooks', 'failure', 'NOT_AVAILABLE'],
  ] as const) {
    const [record, ...more] = await recordsOf(await api.call('GET', path))
    t.same(more, [])
    t.match(record, { result, intent: undefined, changes: [] })
    t.equal(record?.details.get('error'), error)
  }
})

test('no record says what a name or a secret is', async (t) => {
  const created = await api.get<CreatedAccount>('POST', '/service-accounts', { name: 'canary-name' })
  const token = await api.get<IssuedToken>('POST', '/management-tokens', { name: 'canary-name', role: 'auditor' })
  const entries = (await server.journal()).map(({ metadata, operation, resource, principal }) => {
    return [metadata, operation, resource, principal]
  })
  const text = JSON.stringify(entries)
  t.ok(text.includes(created.account.id) && text.includes(token.id), 'the search finds what is there')
  t.notMatch(text, /canary|osm_/)
  const { access_key: accessKey, secret_key: secretKey } = created.credential
  for (const secret of [accessKey, secretKey, token.token]) t.notOk(text.includes(secret))
  const whole = await server.journalText()
  t.ok(whole.includes(accessKey), 'an access key is no secret, and is in the change')
  for (const secret of [secretKey, token.token]) t.notOk(whole.includes(secret))
})

test('nothing of this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
