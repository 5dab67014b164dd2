/**
 * Answers that show a principal have its name beside its id, also after it is deleted.
 * Proves: RES-AUD-05.
 */
import tap, { test } from 'tap'
import { PrincipalNames } from '../../../planes/management/audit/principal-names.ts'
import type { AccessReader } from '../../../projections/access/reader.ts'
import { type ApiClient, bearer } from '../../support/api-client.ts'
import { allow, newIdentity } from '../../support/identities.ts'
import type { IssuedToken } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server
await server.raw('PUT', '/named')

interface Event {
  readonly principal: string
  readonly principal_name: string | null
  readonly operation: string
}

async function namesOf(reader: ApiClient, query: Readonly<Record<string, string>>) {
  await server.journal()
  const path = `/audit/events?${new URLSearchParams(query)}`
  return (await reader.get<{ events: Event[] }>('GET', path)).events.map((event) => event.principal_name)
}

test('records of an account and of a token have its name, now and after it is deleted', async (t) => {
  const identity = await newIdentity(server, [allow(['s3:*'], 'bucket:*')])
  const { id, name } = identity.account
  await server.raw('PUT', '/named/key', { ...identity.signing, body: 'bytes' })
  const ofAccount = { principal: `service_account:${id}` }
  t.same(await namesOf(api, ofAccount), [name, name], 'the attempt and the outcome')

  const body = { name: 'an auditor', role: 'auditor' }
  const issued = await api.get<IssuedToken>('POST', '/management-tokens', body)
  const auditor = api.as(bearer(issued.token))
  t.match(await auditor.get('GET', '/auth/session'), { principal: 'management:auditor', principal_name: 'an auditor' })
  const ofToken = { credential_id: issued.id, operation: 'GET /api/v1/auth/session' }
  t.same(await namesOf(auditor, ofToken), ['an auditor'])
  const exported = await auditor.call('GET', '/audit/export?to=2100-01-01T00:00:00Z')
  t.notMatch(exported.text, /principal_name/, 'an export shows what was recorded')
  const manifest = await api.get('GET', '/audit/export/manifest?to=2100-01-01T00:00:00Z')
  t.match(manifest, { exported_by: { principal_name: 'an auditor', credential_id: issued.id } })

  await api.get('DELETE', `/service-accounts/${id}`)
  await api.get('DELETE', `/management-tokens/${issued.id}`)
  t.same(await namesOf(api, ofAccount), [name, name])
  t.same(await namesOf(api, ofToken), ['an auditor'])
})

test('what has no name has none', async (t) => {
  await server.raw('GET', '/named/key', { sign: false })
  await server.raw('GET', '/named/key')
  for (const principal of ['anonymous', 'system:root', 'management:system-administrator']) {
    const names = await namesOf(api, { principal })
    t.ok(names.length > 0, principal)
    t.same(new Set(names), new Set([null]), principal)
  }
  t.match(await api.get('GET', '/auth/session'), { principal_name: null })
})

test('a principal is looked up once for an answer', async (t) => {
  const asked: string[] = []
  const nameOf = (id: string) => {
    asked.push(id)
    return id === 'sa-1' ? 'one' : undefined
  }
  const names = new PrincipalNames({ version: () => 0, nameOf } as unknown as AccessReader)
  const records = ['service_account:sa-1', 'service_account:sa-2', 'management:auditor', 'anonymous'].flatMap(
    (principal) => Array.from({ length: 3 }, () => ({ principal, credentialId: undefined })),
  )
  t.same(
    records.map((record) => names.of(record)),
    ['one', 'one', 'one', ...Array.from({ length: 9 }, () => null)],
  )
  t.same(asked, ['sa-1', 'sa-2'])
})

test('the document knew each of them', async (t) => {
  t.same(server.undocumented, [])
})
