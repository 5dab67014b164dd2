/** A change of access holds for the very next request: disabled, deleted, expired, attached, detached. */
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import tap, { test } from 'tap'
import { allow, attach, type Identity, newIdentity, s3ClientOf } from '../../support/identities.ts'
import type { IssuedCredential } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'
import { errorName } from '../../support/wire-assertions.ts'
import { createBucket, put } from '../../support/wire-versions.ts'

let now = Date.now()
const server = await startManaged({ clock: () => now })
const identities: Pick<Identity, 's3'>[] = []
tap.teardown(async () => {
  for (const { s3 } of identities) s3.destroy()
  await server.stop()
})
const { api, endpoint } = server
await createBucket(server, 'status')
await put(server, 'status/a', 'bytes')

const READ = [allow(['s3:GetObject'], 'bucket:status/*')]
const NO_LONGER = 'InvalidAccessKeyId'

async function reader(): Promise<Identity> {
  const made = await newIdentity(server, READ)
  identities.push(made)
  return made
}

function clientOf(credential: IssuedCredential): Pick<Identity, 's3'> {
  const client = { s3: s3ClientOf(endpoint, credential) }
  identities.push(client)
  return client
}

function read({ s3 }: Pick<Identity, 's3'>): Promise<string> {
  return errorName(s3.send(new GetObjectCommand({ Bucket: 'status', Key: 'a' })))
}

test('an account is disabled and enabled', async (t) => {
  const identity = await reader()
  const path = `/service-accounts/${identity.account.id}`
  const second = clientOf(await api.get('POST', `${path}/credentials`))
  t.equal(await read(identity), 'no error')
  for (let round = 0; round < 3; round += 1) {
    await api.get('PUT', `${path}/status`, { enabled: false })
    t.equal(await read(identity), NO_LONGER)
    t.equal(await read(second), NO_LONGER, 'all its credentials')
    await api.get('PUT', `${path}/status`, { enabled: true })
    t.equal(await read(identity), 'no error')
    t.equal(await read(second), 'no error')
  }
  await api.get('DELETE', path)
  t.equal(await read(identity), NO_LONGER)
  t.equal(await read(second), NO_LONGER)
})

test('a credential is disabled, the one beside it goes on', async (t) => {
  const identity = await reader()
  const path = `/service-accounts/${identity.account.id}/credentials`
  const second = clientOf(await api.get('POST', path))
  t.equal(await read(second), 'no error')
  const status = `${path}/${identity.credential.credential_id}/status`
  await api.get('PUT', status, { enabled: false })
  t.equal(await read(identity), NO_LONGER)
  t.equal(await read(second), 'no error')
  await api.get('PUT', status, { enabled: true })
  t.equal(await read(identity), 'no error')
})

test('a temporary credential expires', async (t) => {
  const identity = await reader()
  const path = `/service-accounts/${identity.account.id}/temporary-credentials`
  const temporary = clientOf(await api.get('POST', path, { expires_in_seconds: 60 }))
  t.equal(await read(temporary), 'no error')
  now += 59_999
  t.equal(await read(temporary), 'no error')
  now += 1
  t.equal(await read(temporary), NO_LONGER)
  t.equal(await read(identity), 'no error')
})

test('policies are attached and detached', async (t) => {
  const identity = await newIdentity(server)
  identities.push(identity)
  for (let round = 0; round < 3; round += 1) {
    t.equal(await read(identity), 'AccessDenied')
    const policy = await attach(api, identity.account.id, READ)
    t.equal(await read(identity), 'no error')
    await api.get('DELETE', `/policies/${policy}/bindings/${identity.account.id}`)
  }
  t.equal(await read(identity), 'AccessDenied')
})

test('links that were signed before', async (t) => {
  const identity = await newIdentity(server, [allow(['s3:GetObject', 's3:PutObject'], 'bucket:status/*')])
  identities.push(identity)
  const get = await getSignedUrl(identity.s3, new GetObjectCommand({ Bucket: 'status', Key: 'a' }))
  const put1 = await getSignedUrl(identity.s3, new PutObjectCommand({ Bucket: 'status', Key: 'linked' }))
  t.equal(await (await fetch(get)).text(), 'bytes')
  t.equal((await fetch(put1, { method: 'PUT', body: 'x' })).status, 200)
  await api.get('DELETE', `/policies/${identity.policies[0]}/bindings/${identity.account.id}`)
  t.equal((await fetch(get)).status, 403)
  t.equal((await fetch(put1, { method: 'PUT', body: 'other' })).status, 403)
  await api.get('PUT', `/policies/${identity.policies[0]}/bindings/${identity.account.id}`)
  t.equal((await fetch(get)).status, 200)
  await api.get('DELETE', `/service-accounts/${identity.account.id}`)
  t.equal((await fetch(get)).status, 403)
  t.equal((await server.raw('GET', '/status/linked')).text, 'x')
})

test('secrets are worth nothing with another access key', async (t) => {
  const [first, second] = [await reader(), await reader()]
  const mixed = clientOf({ ...first.credential, secret_key: second.credential.secret_key })
  t.equal(await read(mixed), 'SignatureDoesNotMatch')
  t.equal(await read(clientOf({ ...first.credential, access_key: first.account.id })), NO_LONGER)
  t.equal(
    await read(clientOf({ ...first.credential, secret_key: first.credential.access_key })),
    'SignatureDoesNotMatch',
  )
})

test('nothing of this was a fault of the server', async (t) => {
  t.same(server.failures, [])
})
