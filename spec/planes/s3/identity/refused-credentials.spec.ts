/** What the audit log says of credentials that were refused, and of requests that were refused for their form. */
import tap, { test } from 'tap'
import { bearer } from '../../../support/api-client.ts'
import { type Identity, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { ACCESS_KEY } from '../../../support/test-clients.ts'

let time = Date.now()
const server = await startManaged({ clock: () => time })
tap.teardown(() => server.stop())
const { api } = server
await server.raw('PUT', '/named')

interface Event {
  readonly principal: string
  readonly credential_id: string | null
  readonly resource: string
  readonly metadata: Readonly<Record<string, unknown>>
}

async function eventsOf(query: Readonly<Record<string, string>>): Promise<readonly Event[]> {
  await server.journal()
  return (await api.get<{ events: Event[] }>('GET', `/audit/events?${new URLSearchParams(query)}`)).events
}

async function recordOf(answer: { readonly headers: Readonly<Record<string, unknown>> }): Promise<Event | undefined> {
  const id = answer.headers['x-amz-request-id'] ?? answer.headers['x-request-id']
  const events = await eventsOf({ request_id: String(id) })
  return events.at(-1)
}

function claimOf({ account, credential }: Identity): Readonly<Record<string, unknown>> {
  return { claimed_credential_id: credential.credential_id, claimed_account: account.id }
}

async function disable({ account, credential }: Identity): Promise<void> {
  const path = `/service-accounts/${account.id}/credentials/${credential.credential_id}/status`
  await api.get('PUT', path, { enabled: false })
}

test('a refused signature is recorded under the credential that it claims, and in nobody else’s name', async (t) => {
  const identity = await newIdentity(server)
  const { signing } = identity
  const wrong = { sign: { ...signing.sign, secretKey: 'not-the-secret' } }
  const guess = await recordOf(await server.raw('GET', '/named/k', wrong))
  t.match(guess, { principal: 'anonymous', credential_id: null, resource: 'bucket:named/k' })
  t.match(guess?.metadata, { ...claimOf(identity), reason: 'wrong-signature', error: 'signature-does-not-match' })

  await disable(identity)
  const used = await recordOf(await server.raw('GET', '/named/k', signing))
  t.match(used, { principal: 'anonymous', credential_id: null })
  t.match(used?.metadata, { ...claimOf(identity), reason: 'disabled', signature: 'valid' })
  t.match((await recordOf(await server.raw('GET', '/named/k', wrong)))?.metadata, {
    ...claimOf(identity),
    reason: 'disabled',
    signature: 'wrong',
  })
  const url = server.wire.presigned('GET', '/named/k', signing.sign)
  t.match((await recordOf(await server.raw('GET', url, { sign: false })))?.metadata, {
    ...claimOf(identity),
    reason: 'disabled',
    signature: 'valid',
  })
  const found = await eventsOf({ credential_id: identity.credential.credential_id })
  t.equal(found.length, 4, 'a query finds every use and every guess')
  t.same(await eventsOf({ credential_id: 'cred-other' }), [])

  await api.get('PUT', `/service-accounts/${identity.account.id}/status`, { enabled: false })
  t.match((await recordOf(await server.raw('GET', '/named/k', signing)))?.metadata, { reason: 'disabled' })
})

test('an unknown key, a late request and an expired key', async (t) => {
  const nobody = await recordOf(
    await server.raw('GET', '/named/k', { sign: { accessKey: 'OSNOBODY', secretKey: 'x' } }),
  )
  t.match(nobody?.metadata, { reason: 'unknown', error: 'invalid-access-key-id' })
  t.notOk(JSON.stringify(nobody).includes('OSNOBODY'), 'an access key is in no record')

  const identity = await newIdentity(server)
  const late = { sign: { ...identity.signing.sign, now: Date.now() - 3_600_000 } }
  const { metadata = {} } = (await recordOf(await server.raw('GET', '/named/k', late))) ?? {}
  t.match(metadata, { ...claimOf(identity), error: 'request-time-too-skewed' })
  t.equal(metadata['reason'], undefined, 'the credential is not why')

  const path = `/service-accounts/${identity.account.id}/temporary-credentials`
  const issued = await api.get<Identity['credential']>('POST', path, { expires_in_seconds: 60 })
  time += 120_000
  const sign = { accessKey: issued.access_key, secretKey: issued.secret_key }
  t.match((await recordOf(await server.raw('GET', '/named/k', { sign })))?.metadata, {
    claimed_credential_id: issued.credential_id,
    claimed_account: identity.account.id,
    reason: 'expired',
    signature: 'valid',
  })
})

test('a credential of a deleted account, one that made room, and a revoked token are deleted, not unknown', async (t) => {
  const gone = await newIdentity(server)
  await api.get('DELETE', `/service-accounts/${gone.account.id}`)
  const deleted = { ...claimOf(gone), reason: 'deleted', error: 'invalid-access-key-id' }
  const refused = await recordOf(await server.raw('GET', '/named/k', gone.signing))
  t.match(refused, { principal: 'anonymous', credential_id: null })
  t.match(refused?.metadata, deleted)
  t.notOk('signature' in (refused?.metadata ?? {}), 'the store has no secret to judge it by')

  const full = await newIdentity(server)
  await disable(full)
  const path = `/service-accounts/${full.account.id}/credentials`
  for (let count = 0; count < 100; count += 1) await api.get('POST', path)
  t.match((await recordOf(await server.raw('GET', '/named/k', full.signing)))?.metadata, {
    ...claimOf(full),
    reason: 'deleted',
  })

  const body = { name: 'revoked', role: 'auditor' }
  const token = await api.get<{ id: string; token: string }>('POST', '/management-tokens', body)
  await api.get('DELETE', `/management-tokens/${token.id}`)
  const answer = await api.as(bearer(token.token)).call('GET', '/buckets')
  const [event] = await eventsOf({ request_id: answer.requestId })
  t.match(event, { credential_id: null, metadata: { claimed_credential_id: token.id, reason: 'deleted' } })
})

test('refused credentials of the management plane', async (t) => {
  const issued = await api.get<{ id: string; token: string }>('POST', '/management-tokens', {
    name: 'short',
    role: 'auditor',
    expires_in_seconds: 60,
  })
  time += 120_000
  const basic = Buffer.from(`${ACCESS_KEY}:wrong`).toString('base64')
  const other = Buffer.from('somebody:wrong').toString('base64')
  for (const [authorization, metadata] of [
    [bearer(issued.token), { claimed_credential_id: issued.id, reason: 'expired' }],
    [bearer('osm_unknown'), { reason: 'unknown' }],
    [`Basic ${basic}`, { claimed_credential_id: 'root', reason: 'wrong-secret' }],
    [`Basic ${other}`, { reason: 'unknown' }],
  ] as const) {
    const answer = await api.as(authorization).call('GET', '/buckets')
    t.equal(answer.status, 401)
    const [event] = await eventsOf({ request_id: answer.requestId })
    t.match(event, { principal: 'management:unauthenticated', credential_id: null, metadata })
  }
})

test('a known caller is named when the form of the request is refused', async (t) => {
  const long = 'k'.repeat(1025)
  const { signing, account, credential } = await newIdentity(server)
  const principal = `service_account:${account.id}`
  for (const [target, code, resource] of [
    [`/named/${long}`, 'KeyTooLongError', /^bucket:named\/k+/],
    ['//k', 'InvalidURI', /^bucket:\*$/],
  ] as const) {
    const answer = await server.raw('PUT', target, signing)
    t.match(answer.text, `<Code>${code}</Code>`, target)
    const event = await recordOf(answer)
    t.match(event, { principal, credential_id: credential.credential_id, resource }, target)
    if (target !== `/named/${long}`) t.match(event?.metadata, { path: target })
    const unsigned = await server.raw('PUT', target, { sign: false })
    t.match(unsigned.text, '<Code>AccessDenied</Code>', 'a stranger is not told more')
  }
  const answer = await server.raw('GET', '/named/%zz', { sign: false })
  t.match(answer.text, '<Code>InvalidURI</Code>')
  t.match(await recordOf(answer), { principal: 'anonymous', metadata: { path: '/named/%zz' } })
})

test('what the document says is what is answered', async (t) => {
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})
