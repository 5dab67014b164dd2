/**
 * A change of access holds for the very next request: disabled, deleted, expired, attached, detached.
 * Proves: DO-NOT-14, RES-ACC-07, API-ACC-04, API-ACC-05, AUT-S3P-02.
 */
import { GetObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { allow, type Identity, newIdentity, s3ClientOf } from '../../../support/identities.ts'
import type { IssuedCredential } from '../../../support/management-records.ts'
import { startManaged } from '../../../support/management-server.ts'
import { errorName } from '../../../support/wire-assertions.ts'
import { createBucket, put } from '../../../support/wire-versions.ts'

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

test('a rotated account has two credentials, until the earlier one is disabled', async (t) => {
  const identity = await reader()
  const { id } = identity.account
  const later = clientOf(await api.get('POST', `/service-accounts/${id}/credentials`))
  t.same([await read(identity), await read(later)], ['no error', 'no error'])
  const status = `/service-accounts/${id}/credentials/${identity.credential.credential_id}/status`
  await api.get('PUT', status, { enabled: false })
  t.same([await read(identity), await read(later)], [NO_LONGER, 'no error'])
})

test('nothing of this was a fault of the server', async (t) => {
  t.same(server.failures, [])
})
