/**
 * The server that is attacked, a process with both planes, and who may ask it what. Its store is made beforehand by a
 * server in this thread whose clock is two hours behind, so that a temporary credential has expired by now.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { EXTENSIONS, type Extensions } from '../../../planes/objects/s3-extensions.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { type Identity, allow, deny, newIdentity } from '../../support/identities.ts'
import { OtherLog } from '../../support/other-log.ts'
import { type ManagedServer, startManaged } from '../../support/management-server.ts'
import type { KnownCredentials } from '../../support/pages/management-matrix.ts'
import type { IssuedCredential, IssuedToken } from '../../support/management-records.ts'
import { completionOf, createUpload, sendPart } from '../../support/multipart.ts'
import { type ProcessServer, startProcess } from '../../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'
import { createLockBucket } from '../../support/wire-locks.ts'
import { createBucket, put } from '../../support/wire-versions.ts'

const HOURS_BEHIND = 2
const HOUR_MILLISECONDS = 3_600_000
const TEMPORARY_SECONDS = 60
/** Silence of a client after which the server may close its connection. */
export const STALL_SECONDS = 5

/** All of them: what is off is refused by name, and there is nothing to attack. */
export const ARENA_EXTENSIONS: Extensions = new Set(EXTENSIONS)

export const BUCKET = 'attack'
/** What strangers may read, once a policy of the bucket says so; nothing is there. */
export const PUBLIC_PREFIX = `${BUCKET}/public/`
export const KEY = 'key'
/** Has nothing to do with the attacked bucket; nobody but root and `everything` may see it. */
export const OTHER_BUCKET = 'attack-other'
/** For requests made by chance, which may delete it. */
export const CHANCE_BUCKET = 'attack-chance'
const VICTIM_BUCKET = 'attack-victim'
/** What stands in an object, and so must not stand on the disk (S26). */
export const PLAINTEXT = 'the plaintext that the disk must not hold'
/** Size of an object that does not fit the buffers of the kernel, `large`. */
export const LARGE_BYTES = 24 * 1024 ** 2

/** A pair of keys that signs. */
export interface Signer {
  readonly accessKey: string
  readonly secretKey: string
}

export interface Signers {
  readonly root: Signer
  /** Everything is allowed. */
  readonly everything: Signer
  /** Everything is allowed and everything is denied. */
  readonly denied: Signer
  /** No policy. */
  readonly nothing: Signer
  /** Everything is allowed in another bucket. */
  readonly elsewhere: Signer
  /** Everything is allowed that changes nothing. */
  readonly reader: Signer
  /** May write and delete objects, and read nothing. */
  readonly writer: Signer
  readonly accountDisabled: Signer
  readonly accountDeleted: Signer
  readonly credentialDisabled: Signer
  readonly expired: Signer
}

export interface Uploads {
  /** Stays open. */
  readonly open: string
  /** Has a part, and may be completed or aborted. */
  readonly spare: string
  readonly spareCompletion: string
  /** Of the key `k` in the bucket for chance. */
  readonly chance: string
}

export interface Arena {
  readonly server: ProcessServer
  readonly apiPort: number
  readonly signers: Signers
  readonly known: KnownCredentials
  readonly uploads: Uploads
  /** Values of the `{name}` parts of management paths: of things that are there and that nothing else needs. */
  readonly victims: Readonly<Record<string, string>>
  /** That of a webhook which is there. */
  readonly signingSecret: string
  readonly masterKey: Buffer
}

/** The log that the server witnesses. */
export const WITNESSED = new OtherLog('witnessed.example/log')

function clock(): number {
  return Date.now() - HOURS_BEHIND * HOUR_MILLISECONDS
}

export async function openArena(directory: string): Promise<Arena> {
  const dataDirectory = join(directory, 'data')
  const masterKey = randomBytes(32)
  const systemToken = `system-${randomBytes(24).toString('hex')}`
  const maker = await startManaged({ dataDirectory, masterKey, clock })
  const made = await furnish(maker).finally(() => maker.stop())
  const server = await startProcess({
    dataDirectory,
    environment: {
      OBJECT_STORE_CREDENTIAL_MASTER_KEY: masterKey.toString('hex'),
      OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: systemToken,
      OBJECT_STORE_SERVER_STALL_TIMEOUT_SECONDS: String(STALL_SECONDS),
      OBJECT_STORE_STORAGE_ENCRYPTION_ENABLED: 'true',
      OBJECT_STORE_S3_EXTENSIONS: [...ARENA_EXTENSIONS].join(),
      OBJECT_STORE_S3_PUBLIC_READ_PREFIXES: PUBLIC_PREFIX,
      OBJECT_STORE_S3_UNSIGNED_CHUNKS_OVER_HTTP: 'true',
      OBJECT_STORE_CHECKPOINTS_WITNESS_FOR: WITNESSED.vkey,
      // Every refusal is looked up in the journal afterwards, so none may be counted only.
      OBJECT_STORE_AUDIT_ANONYMOUS_KIB_PER_SECOND: String(1024 ** 2),
    },
  })
  await server.raw('PUT', `/${BUCKET}/sealed`, { body: PLAINTEXT })
  await server.raw('PUT', `/${BUCKET}/large`, { body: Buffer.alloc(LARGE_BYTES, 'large') })
  const apiPort = Number(server.apiEndpoint.split(':').at(-1))
  const configured = {
    systemToken,
    scrapeToken: server.scrapeToken,
    rootAccessKey: ACCESS_KEY,
    rootSecretKey: SECRET_KEY,
  }
  return { ...made, server, apiPort, masterKey, known: { ...configured, ...made.tokens } }
}

async function furnish(maker: ManagedServer) {
  const { api } = maker
  await createLockBucket(maker, BUCKET)
  await createLockBucket(maker, OTHER_BUCKET)
  for (const key of [KEY, 'source', 'doomed', 'locked']) await put(maker, `${BUCKET}/${key}`, `bytes of ${key}`)
  await put(maker, `${OTHER_BUCKET}/${KEY}`, 'bytes of another bucket')
  const everything = await newIdentity(maker, ALL)
  const signers: Signers = {
    root: { accessKey: ACCESS_KEY, secretKey: SECRET_KEY },
    everything: signerOf(everything),
    denied: signerOf(await newIdentity(maker, ALL, [deny(['s3:*'], 'bucket:*')])),
    nothing: signerOf(await newIdentity(maker)),
    elsewhere: signerOf(
      await newIdentity(maker, [allow(['s3:*'], `bucket:${OTHER_BUCKET}`, `bucket:${OTHER_BUCKET}/*`)]),
    ),
    reader: signerOf(await newIdentity(maker, [allow(['s3:Get*', 's3:List*'], 'bucket:*')])),
    writer: signerOf(await newIdentity(maker, [allow(['s3:PutObject', 's3:DeleteObject'], 'bucket:*')])),
    ...(await outOfUse(maker)),
    expired: keysOf(
      await api.get<IssuedCredential>('POST', `/service-accounts/${everything.account.id}/temporary-credentials`, {
        expires_in_seconds: TEMPORARY_SECONDS,
      }),
    ),
  }
  return {
    signers,
    tokens: await tokensOf(api),
    uploads: await uploadsOf(maker),
    ...(await victimsOf(maker)),
  }
}

const ALL = [allow(['s3:*'], 'bucket:*')]

function keysOf({ access_key: accessKey, secret_key: secretKey }: IssuedCredential): Signer {
  return { accessKey, secretKey }
}

function signerOf({ credential, s3 }: Identity): Signer {
  s3.destroy()
  return keysOf(credential)
}

async function outOfUse(maker: ManagedServer) {
  const { api } = maker
  const [accountDisabled, accountDeleted, credentialDisabled] = await Promise.all([
    newIdentity(maker, ALL),
    newIdentity(maker, ALL),
    newIdentity(maker, ALL),
  ])
  const { account, credential } = credentialDisabled
  const off = { enabled: false }
  await api.get('PUT', `/service-accounts/${accountDisabled.account.id}/status`, off)
  await api.get('PUT', `/service-accounts/${account.id}/credentials/${credential.credential_id}/status`, off)
  await api.get('DELETE', `/service-accounts/${accountDeleted.account.id}`)
  return {
    accountDisabled: signerOf(accountDisabled),
    accountDeleted: signerOf(accountDeleted),
    credentialDisabled: signerOf(credentialDisabled),
  }
}

/** Gets no event, so that nothing is sent anywhere. */
export const WEBHOOK = {
  target_url: 'https://receiver.invalid/hook?token=t',
  event_types: ['bucket.created'],
  bucket_filter: 'no-bucket-has-this-name',
}

async function victimsOf(maker: ManagedServer): Promise<Pick<Arena, 'victims' | 'signingSecret'>> {
  const { account, credential, policies, s3 } = await newIdentity(maker, ALL)
  s3.destroy()
  await createLockBucket(maker, VICTIM_BUCKET)
  await put(maker, `${VICTIM_BUCKET}/a/b`, 'bytes of a victim')
  const rule = await maker.api.get<{ id: string }>('POST', `/buckets/${VICTIM_BUCKET}/lifecycle`, {
    expiration: 36_500,
  })
  const webhook = await maker.api.get<{ id: string; signing_secret: string }>('POST', '/webhooks', WEBHOOK)
  const victims = {
    '{bucket}': VICTIM_BUCKET,
    '{key}': 'a/b',
    '{id}': account.id,
    '{account_id}': account.id,
    '{credential_id}': credential.credential_id,
    '{policy_id}': policies[0] ?? '',
    '{rule_id}': rule.id,
    'lifecycle-rules/{id}': rule.id,
    'webhooks/{id}': webhook.id,
  }
  return { victims, signingSecret: webhook.signing_secret }
}

async function tokensOf(api: ApiClient) {
  const issue = (role: string, more = {}) =>
    api.get<IssuedToken>('POST', '/management-tokens', { name: role, role, ...more })
  const revoked = await issue('system-administrator')
  await api.get('DELETE', `/management-tokens/${revoked.id}`)
  return {
    system: await issue('system-administrator'),
    storage: await issue('storage-administrator'),
    auditor: await issue('auditor'),
    revoked,
    expired: await issue('system-administrator', { expires_in_seconds: TEMPORARY_SECONDS }),
  }
}

async function uploadsOf(maker: ManagedServer): Promise<Uploads> {
  const open = await createUpload(maker, `/${BUCKET}/open`)
  const spare = await createUpload(maker, `/${BUCKET}/spare`)
  const part = await sendPart(maker, `/${BUCKET}/spare`, spare, 1, 'the only part')
  await createBucket(maker, CHANCE_BUCKET)
  await put(maker, `${CHANCE_BUCKET}/k`, 'bytes')
  const chance = await createUpload(maker, `/${CHANCE_BUCKET}/k`)
  return { open, spare, spareCompletion: completionOf([part]), chance }
}
