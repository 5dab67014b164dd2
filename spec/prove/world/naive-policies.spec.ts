/** What the world holds against the answers to service accounts says no where a policy does. */
import { test } from 'tap'
import { AccessLedger } from './access-ledger.ts'
import { isAllowedBy, type NaiveStatement, needsOf } from './naive-policies.ts'

const NOW = Date.UTC(2030, 0, 1)
const all: NaiveStatement = { effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] }

test('a deny wins wherever it stands, and without an allow nothing is allowed', async (t) => {
  const deny: NaiveStatement = { effect: 'deny', actions: ['s3:PutObject'], resources: ['bucket:a/*'] }
  const put = needsOf({ method: 'PUT', target: '/a/b%20c' }) ?? []
  t.same(put, [{ action: 's3:PutObject', resource: 'bucket:a/b c' }])
  t.notOk(isAllowedBy([], put))
  t.ok(isAllowedBy([all], put))
  t.notOk(isAllowedBy([all, deny], put))
  t.notOk(isAllowedBy([deny, all], put))
  t.ok(isAllowedBy([all, deny], needsOf({ method: 'GET', target: '/a/b' }) ?? []))
  const copy = needsOf({ method: 'PUT', target: '/c/d', headers: [['x-amz-copy-source', '/a/b?versionId=x']] }) ?? []
  t.notOk(isAllowedBy([all, { ...deny, actions: ['s3:GetObject'] }], copy), 'the source of a copy is read')
})

test('a change is obeyed by the next request', async (t) => {
  const ledger = new AccessLedger()
  const saw = (method: string, path: string, body: unknown, json: unknown = {}) =>
    ledger.saw(method, `/api/v1/${path}`, JSON.stringify(body), { status: 200, json }, NOW)
  const issued = { credential_id: 'c', access_key: 'K', secret_key: 'S', expires_at: null }
  saw('POST', 'service-accounts', { name: 'n' }, { account: { id: 'sa' }, credential: issued })
  saw('POST', 'policies', { name: 'p', statements: [all] }, { id: 'pol' })
  const [credential] = ledger.credentials.values()
  const verdict = () => credential && ledger.verdict(credential, { method: 'GET', target: '/a' }, NOW)
  t.equal(verdict(), 'AccessDenied')
  saw('PUT', 'policies/pol/bindings/sa', {})
  t.equal(verdict(), 'allowed')
  saw('PUT', 'service-accounts/sa/credentials/c/status', { enabled: false })
  t.equal(verdict(), 'InvalidAccessKeyId')
  saw('PUT', 'service-accounts/sa/credentials/c/status', { enabled: true })
  saw('DELETE', 'policies/pol/bindings/sa', {})
  t.equal(verdict(), 'AccessDenied')
  saw('DELETE', 'service-accounts/sa', {})
  t.equal(verdict(), 'InvalidAccessKeyId')
})
