/**
 * What the audit records of changes on the management plane say, and what they keep to themselves.
 * Proves: RES-AUD-04, RES-AUD-05.
 */
import tap, { test } from 'tap'
import type { CreatedAccount, IssuedToken } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

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

test('the root credential has one name on both planes, and its access key is in no record', async (t) => {
  const root = { authorization: `Basic ${Buffer.from(`${ACCESS_KEY}:${SECRET_KEY}`).toString('base64')}` }
  const answer = await fetch(`${server.apiEndpoint}/api/v1/buckets`, { headers: root })
  t.equal(answer.status, 200)
  t.equal((await server.raw('PUT', '/of-root')).status, 200)
  const records = (await server.journal()).filter(({ credentialId }) => credentialId === 'root')
  t.same(
    new Set(records.map(({ principal }) => principal)),
    new Set(['management:system-administrator', 'system:root']),
  )
  t.notOk((await server.journalText()).includes(ACCESS_KEY))
})

test('nothing of this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
