/** Another master key and another root credential: the commands, the secrets file, backups, and a server that runs on. */
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { test } from 'tap'
import { changeSecrets, readSecrets } from '../../cli/config/secrets-file.ts'
import { ApiClient, basic } from '../support/api-client.ts'
import { backUp, restore } from '../support/backups.ts'
import { startProcess } from '../support/server-process.ts'
import { openTestStore } from '../support/test-store.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { run } from './command-runner.ts'

const FIRST = Buffer.alloc(32, 0x11)
const [KEY, PREVIOUS] = ['OBJECT_STORE_CREDENTIAL_MASTER_KEY', 'OBJECT_STORE_PREVIOUS_CREDENTIAL_MASTER_KEY']
const ROOT = { OBJECT_STORE_ROOT_ACCESS_KEY: 'ROOTROOTROOT', OBJECT_STORE_ROOT_SECRET_KEY: 'root-secret-root-secret' }

/** A stopped store with the secrets file of a quick start. */
async function quickStore(directory: string): Promise<{ readonly data: string; readonly secrets: string }> {
  mkdirSync(directory, { recursive: true })
  const data = join(directory, 'data')
  const store = await openTestStore(data, { masterKey: FIRST })
  await store.close(true)
  const secrets = `${data}.secrets.env`
  const lines = Object.entries({ ...ROOT, [KEY]: FIRST.toString('hex') }).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(secrets, `# a comment that stays\n${lines.join('')}`, { mode: 0o600 })
  return { data, secrets }
}

function keptKeys(secrets: string): string[] {
  return readdirSync(dirname(secrets)).filter((name) => name.startsWith(`${basename(secrets)}.key-`))
}

test('key rotate replaces the key in the secrets file, and keeps the one before beside it', async (t) => {
  const { data, secrets } = await quickStore(t.testdir())
  const done = await run(['key', 'rotate', '--data-dir', data])
  t.equal(done.exitCode, 0, done.stderr)
  t.match(done.stdout, /The key before is kept in .*data\.secrets\.env\.key-[0-9a-f]{8}: a backup/)
  t.match(done.stdout, /The store has the master key with the id [0-9a-f]{8}/)
  const { [KEY]: changed = '', [PREVIOUS]: previous, ...others } = readSecrets(secrets)
  t.notOk(done.stdout.includes(changed))
  t.match(changed, /^[0-9a-f]{64}$/)
  t.not(changed, FIRST.toString('hex'))
  t.equal(previous, undefined)
  t.same(others, ROOT)
  t.equal(statSync(secrets).mode & 0o777, 0o600)
  const [kept = ''] = keptKeys(secrets)
  t.same(readSecrets(join(dirname(secrets), kept)), { [KEY]: FIRST.toString('hex') })
  const store = await openTestStore(data, { masterKey: Buffer.from(changed, 'hex') })
  await store.close(true)
  t.match((await run(['server', 'doctor', '--data-dir', data])).stdout, /it is the key of this store/)
  const again = await run(['key', 'rotate', '--data-dir', data])
  t.equal(again.exitCode, 0, again.stderr)
  t.equal(keptKeys(secrets).length, 2)
})

test('what was copied before a rotation: who opens it is told where its key is', async (t) => {
  const directory = t.testdir()
  const { data, secrets } = await quickStore(directory)
  const copy = join(directory, 'copy')
  cpSync(data, copy, { recursive: true })
  t.equal((await run(['key', 'rotate', '--data-dir', data])).exitCode, 0)
  rmSync(data, { recursive: true })
  renameSync(copy, data)
  const [kept = ''] = keptKeys(secrets)
  const told = `the earlier one, kept in ${join(directory, kept)}: give it as ${PREVIOUS}`
  const words = ['server', 'doctor', '--data-dir', data]
  t.match(await run(words), { exitCode: 7, stdout: told })
  t.match(await run(['key', 'rotate', '--data-dir', data]), { exitCode: 23, stderr: /not the one of this store/ })
  const environment = { [PREVIOUS]: readSecrets(join(directory, kept))[KEY] ?? '' }
  const right = await run(words, { environment })
  t.match(right.stdout, /the previous one is the key of this store, and the next start changes it/)
  rmSync(join(directory, kept))
  t.match((await run(words)).stdout, `${secrets} has the secrets of another store; give the key of this one as ${KEY}`)
})

test('a rotation that was cut short goes on, by the command or by a start', async (t) => {
  const root = t.testdir()
  for (const opens of [false, true]) {
    const { data, secrets } = await quickStore(join(root, String(opens)))
    const next = Buffer.alloc(32, 0x12)
    changeSecrets(secrets, { [KEY]: next.toString('hex'), [PREVIOUS]: FIRST.toString('hex') })
    const doctor = await run(['server', 'doctor', '--data-dir', data])
    t.match(doctor.stdout, /the previous one is the key of this store, and the next start changes it/)
    if (opens) {
      const store = await openTestStore(data, { masterKey: next, previousMasterKey: FIRST })
      await store.close(true)
    }
    const done = await run(['key', 'rotate', '--data-dir', data])
    t.equal(done.exitCode, 0, done.stderr)
    t.match(done.stdout, opens ? /The store has had the master key/ : /The store has the master key/)
    t.match(readSecrets(secrets), { [KEY]: next.toString('hex'), [PREVIOUS]: undefined })
  }
})

test('key rotate refuses what it cannot do, and changes nothing', async (t) => {
  const { data, secrets } = await quickStore(t.testdir())
  const before = readSecrets(secrets)
  const place = ['key', 'rotate', '--data-dir', data]
  const fromEnvironment = await run(place, { environment: { ...ROOT, [KEY]: FIRST.toString('hex') } })
  t.match(fromEnvironment, {
    exitCode: 2,
    stderr: /not in a secrets file.*set OBJECT_STORE_CREDENTIAL_MASTER_KEY to a new key/,
  })
  const wrong = await run(place, { environment: { ...ROOT, [KEY]: '22'.repeat(32) } })
  t.match(wrong, { exitCode: 23, stderr: /not the one of this store: its id is/ })
  const neither = await run(place, { environment: { [KEY]: '22'.repeat(32), [PREVIOUS]: '33'.repeat(32) } })
  t.match(neither, { exitCode: 23, stderr: /data\.secrets\.env holds the secrets of a quick start/ })
  const same = await run(place, { environment: { [KEY]: '22'.repeat(32), [PREVIOUS]: '22'.repeat(32) } })
  t.match(same, { exitCode: 2, stderr: /both are the same key/ })
  t.match(await run(['key', 'rotate', '--data-dir', `${data}-none`]), { exitCode: 4 })
  rmSync(secrets)
  t.match(await run(place), { exitCode: 23, stderr: /the credential master key is not set/ })
  t.same(keptKeys(secrets), [])
  const store = await openTestStore(data, { masterKey: FIRST })
  await store.close(true)
  t.equal(before[KEY], FIRST.toString('hex'))
})

test('root rotate makes another credential, which a person is shown once', async (t) => {
  const { data, secrets } = await quickStore(t.testdir())
  const shown = await run(['root', 'rotate', '--data-dir', data], { terminal: true })
  const values = readSecrets(secrets)
  t.match(shown, { exitCode: 0, stdout: /The next start of the server takes it\./ })
  t.ok(shown.stdout.includes(`secret key    ${values['OBJECT_STORE_ROOT_SECRET_KEY']}`))
  t.not(values['OBJECT_STORE_ROOT_ACCESS_KEY'], ROOT.OBJECT_STORE_ROOT_ACCESS_KEY)
  t.equal(values[KEY], FIRST.toString('hex'))
  const logged = await run(['root', 'rotate', '--data-dir', data])
  t.notOk(logged.stdout.includes(readSecrets(secrets)['OBJECT_STORE_ROOT_SECRET_KEY'] ?? ''))
  const elsewhere = await run(['root', 'rotate', '--data-dir', data], { environment: ROOT })
  t.match(elsewhere, { exitCode: 2, stderr: /root\.access_key and root\.secret_key: not from a secrets file/ })
})

test('a backup of before and after the change, restored to either side of it', async (t) => {
  const directory = t.testdir()
  const [data, backup] = [join(directory, 'data'), join(directory, 'backup')]
  const second = Buffer.alloc(32, 0x12)
  const store = await openTestStore(data, { masterKey: FIRST })
  await store.close(true)
  await backUp(data, backup)
  const before = store.journal.position.sequence
  const changed = await openTestStore(data, { masterKey: second, previousMasterKey: FIRST })
  await changed.close(true)
  await backUp(data, backup)
  await restore(backup, join(directory, 'whole'))
  const whole = await openTestStore(join(directory, 'whole'), { masterKey: second })
  await whole.close(true)
  await restore(backup, join(directory, 'early'), before)
  await t.rejects(openTestStore(join(directory, 'early'), { masterKey: second }), { name: 'MasterKeyMismatchError' })
  const early = await openTestStore(join(directory, 'early'), { masterKey: second, previousMasterKey: FIRST })
  t.match(early.report.changedMasterKey, /^[0-9a-f]{8}$/)
  await early.close(true)
})

test('over a real server: encrypted objects, accounts, version ids and links outlive the key, old root does not', async (t) => {
  const environment = { [KEY]: FIRST.toString('hex'), OBJECT_STORE_STORAGE_ENCRYPTION_ENABLED: 'true' }
  const dataDirectory = join(t.testdir(), 'data')
  const server = await startProcess({ dataDirectory, environment })
  const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
  await server.s3.send(new CreateBucketCommand({ Bucket: 'bucket' }))
  const [small, large] = [Buffer.alloc(100, 'small'), Buffer.alloc(300_000, 'large')]
  for (const [Key, Body] of [
    ['small', small],
    ['large', large],
  ] as const) {
    await server.s3.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body }))
  }
  type Created = { account: { id: string }; credential: { access_key: string; secret_key: string } }
  const { account, credential } = await api.get<Created>('POST', '/service-accounts', { name: 'importer' })
  const policy = await api.get<{ id: string }>('POST', '/policies', {
    name: 'all',
    statements: [{ effect: 'allow', actions: ['s3:*'], resources: ['bucket:bucket', 'bucket:bucket/*'] }],
  })
  await api.get('PUT', `/policies/${policy.id}/bindings/${account.id}`)
  const { Versions: [listed] = [] } = await server.s3.send(new ListObjectVersionsCommand({ Bucket: 'bucket' }))
  t.equal(await server.terminate(), 0)
  const rotated = {
    ...environment,
    [KEY]: '44'.repeat(32),
    [PREVIOUS]: FIRST.toString('hex'),
    OBJECT_STORE_ROOT_ACCESS_KEY: 'NEWROOT',
    OBJECT_STORE_ROOT_SECRET_KEY: 'another-secret-of-root',
  }
  const after = await startProcess({ dataDirectory, environment: rotated })
  t.ok(after.log.some((line) => line.includes('the store has the new master key')))
  await t.rejects(after.s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'small' })), {
    name: 'InvalidAccessKeyId',
  })
  const { access_key: accessKeyId, secret_key: secretAccessKey } = credential
  const client = new S3Client({
    endpoint: after.endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
  })
  for (const [Key, body] of [
    ['small', small],
    ['large', large],
  ] as const) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key }))
    t.ok(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body), Key)
  }
  await client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'young', Body: small }))
  const young = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'young' }))
  t.ok(Buffer.from((await young.Body?.transformToByteArray()) ?? []).equals(small))
  const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: 'bucket' }))
  t.equal(Versions.find(({ Key }) => Key === listed?.Key)?.VersionId, listed?.VersionId)
  client.destroy()
  await after.stop()
})
