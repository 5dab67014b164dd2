/** What policies let service accounts do, from the management plane to the SDK. */
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import type { PolicyStatement } from '../../../engine/events/access-changes.ts'
import { allow, deny, type Identity, newIdentity } from '../../support/identities.ts'
import { startManaged } from '../../support/management-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { createLockBucket, DAY, later } from '../../support/wire-locks.ts'
import { createBucket, historyOf, put } from '../../support/wire-versions.ts'

const server = await startManaged()
const identities: Identity[] = []
tap.teardown(async () => {
  for (const { s3 } of identities) s3.destroy()
  await server.stop()
})
const { raw } = server
await createBucket(server, 'photos')
await createBucket(server, 'archive')
for (const key of ['2026/a', '2026/b', '2025/a', 'secret/a', '2026']) await put(server, `photos/${key}`, key)
await put(server, 'archive/a', 'archived')

async function identity(...lists: readonly (readonly PolicyStatement[])[]): Promise<Identity> {
  const made = await newIdentity(server, ...lists)
  identities.push(made)
  return made
}

const READ = ['s3:GetObject']
const WRITE = ['s3:PutObject']

/** Whether the SDK may read a key. */
function read({ s3 }: Identity, Key: string, Bucket = 'photos'): Promise<string> {
  return errorName(s3.send(new GetObjectCommand({ Bucket, Key })))
}

function write({ s3 }: Identity, Key: string, Bucket = 'photos'): Promise<string> {
  return errorName(s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' })))
}

async function isAllowed(t: Test, outcome: Promise<string>, allowed: boolean, name: string): Promise<void> {
  t.equal(await outcome, allowed ? 'no error' : 'AccessDenied', name)
}

test('without a policy nothing is allowed', async (t) => {
  const nobody = await identity()
  await isAllowed(t, read(nobody, '2026/a'), false, 'read')
  await isAllowed(t, write(nobody, '2026/a'), false, 'write')
  await isAllowed(t, errorName(nobody.s3.send(new ListBucketsCommand({}))), false, 'buckets')
  await isAllowed(t, errorName(nobody.s3.send(new ListObjectsV2Command({ Bucket: 'photos' }))), false, 'keys')
  await isAllowed(
    t,
    errorName(nobody.s3.send(new DeleteObjectCommand({ Bucket: 'photos', Key: '2026/a' }))),
    false,
    'delete',
  )
  t.equal((await raw('HEAD', '/photos/2026/a', nobody.signing)).status, 403, 'head')
  t.equal((await raw('GET', '/photos/2026/a')).text, '2026/a', 'nothing happened to it')
})

test('an allow is for what it names', async (t) => {
  const reader = await identity([allow(READ, 'bucket:photos/2026/*')])
  for (const [key, allowed] of [
    ['2026/a', true],
    ['2026/b', true],
    ['2026', false],
    ['2025/a', false],
    ['secret/a', false],
  ] as const) {
    await isAllowed(t, read(reader, key), allowed, key)
  }
  t.equal(await read(reader, '2026/missing'), 'NoSuchKey', 'who may read is told what is missing')
  await isAllowed(t, write(reader, '2026/a'), false, 'another action')
  await isAllowed(t, read(reader, 'a', 'archive'), false, 'another bucket')
  await isAllowed(
    t,
    errorName(reader.s3.send(new ListObjectsV2Command({ Bucket: 'photos', Prefix: '2026/' }))),
    false,
    'keys',
  )
})

test('a wildcard at the end, and nothing but the very name without one', async (t) => {
  const rows: [resource: string, key: string, allowed: boolean][] = [
    ['bucket:photos/2026/a', '2026/a', true],
    ['bucket:photos/2026/a', '2026/b', false],
    ['bucket:photos/2026/', '2026/a', false],
    ['bucket:photos', '2026/a', false],
    ['bucket:photos*', '2026/a', true],
    ['bucket:photo*', '2026/a', true],
    ['bucket:photos/*', '2026/a', true],
    ['bucket:*', '2026/a', true],
    ['*', '2026/a', true],
    ['bucket:photos/20*', '2026', true],
    ['bucket:photos/2026*', '2026', true],
    ['bucket:Photos/*', '2026/a', false],
    ['bucket:photos/2026/A', '2026/a', false],
    ['bucket:archive/*', '2026/a', false],
  ]
  for (const [resource, key, allowed] of rows) {
    const reader = await identity([allow(READ, resource)])
    await isAllowed(t, read(reader, key), allowed, `${resource} for ${key}`)
  }
  for (const [action, allowed] of [
    ['s3:GetObject', true],
    ['s3:Get*', true],
    ['s3:*', true],
    ['*', true],
    ['s3:GetObjectRetention', false],
    ['s3:GetObjectR*', false],
    ['s3:Put*', false],
  ] as const) {
    await isAllowed(t, read(await identity([allow([action], 'bucket:*')]), '2026/a'), allowed, action)
  }
})

test('an explicit deny wins, wherever it stands', async (t) => {
  const all = allow(['s3:*'], 'bucket:*')
  const secret = deny(READ, 'bucket:photos/secret/*')
  const lists: (readonly PolicyStatement[])[][] = [
    [[all, secret]],
    [[secret, all]],
    [[all], [secret]],
    [[secret], [all]],
  ]
  lists.push(
    [[all], [all, secret, all], [all]],
    [[allow(READ, 'bucket:photos/secret/a')], [all], [deny(['*'], 'bucket:photos/s*')]],
  )
  for (const [index, each] of lists.entries()) {
    const reader = await identity(...each)
    await isAllowed(t, read(reader, 'secret/a'), false, `${index}: secret`)
    await isAllowed(t, read(reader, '2026/a'), true, `${index}: the rest`)
  }
  const denied = await identity([deny(READ, 'bucket:photos/secret/*')])
  await isAllowed(t, read(denied, '2026/a'), false, 'a deny allows nothing')
})

/** Keys that are written in more than one way, and keys that look alike. */
const KEYS = [
  'a b',
  'a+b',
  'a%20b',
  'a%2Fb',
  'a/b',
  'a//b',
  'é',
  'e\u0301',
  '\u{1f600}',
  '\u0000',
  'a*',
  "a'b",
  '../a',
  './a',
  'a?b=c',
  'a#b',
  'A B',
]

test('resources are canonical decoded keys', async (t) => {
  const reader = (key: string) => identity([allow([...READ, ...WRITE], `bucket:photos/keys/${key}`)])
  for (const own of KEYS.filter((key) => !key.includes('*'))) {
    const { signing } = await reader(own)
    for (const key of KEYS) {
      const path = `/photos/keys/${encodeURIComponent(key).replaceAll('%2F', '/')}`
      const answer = await raw('PUT', path, { ...signing, body: 'x' })
      t.equal(
        answer.code,
        key === own ? undefined : 'AccessDenied',
        `${JSON.stringify(key)} by who may ${JSON.stringify(own)}`,
      )
    }
  }
  const { signing } = await reader('plain')
  for (const path of [
    '/photos/keys/plain',
    '/photos/keys/%70%6cain',
    '/photos/%6Beys%2Fplain',
    '/photos/keys%2fplain',
  ]) {
    isDone(t, await raw('PUT', path, { ...signing, body: 'x' }), 200, path)
  }
  const starred = await identity([allow(READ, 'bucket:photos/keys/a*')])
  for (const key of ['a b', 'a*', 'a/b', "a'b"]) {
    t.not(await read(starred, `keys/${key}`), 'AccessDenied', `a star that is meant as one fits ${key}`)
  }
})

test('a copy needs to read its source and to write its target', async (t) => {
  const source = allow(READ, 'bucket:photos/2026/a')
  const target = allow(WRITE, 'bucket:archive/copies/*')
  const rows: [statements: PolicyStatement[], allowed: boolean][] = [
    [[source], false],
    [[target], false],
    [[source, target], true],
    [[source, target, deny(READ, 'bucket:photos/*')], false],
    [[source, target, deny(WRITE, 'bucket:archive/*')], false],
    [[allow(READ, 'bucket:archive/copies/*'), allow(WRITE, 'bucket:photos/2026/a')], false],
  ]
  for (const [index, [statements, allowed]] of rows.entries()) {
    const { s3, signing } = await identity(statements)
    const Key = `copies/${index}`
    const copy = new CopyObjectCommand({ Bucket: 'archive', Key, CopySource: 'photos/2026/a' })
    await isAllowed(t, errorName(s3.send(copy)), allowed, `row ${index}`)
    for (const name of ['/photos/2026/a', 'photos%2F2026%2Fa', '/photos/2026/%61', 'photos/2026/a?versionId=null']) {
      const answer = await raw('PUT', `/archive/${Key}`, { ...signing, headers: [['x-amz-copy-source', name]] })
      t.equal(answer.status, allowed ? 200 : 403, `row ${index}: ${name}`)
    }
    const url = server.wire.presigned('PUT', `/archive/${Key}`, {
      ...signing.sign,
      query: [['x-amz-copy-source', 'photos/2026/a']],
    })
    t.equal((await raw('PUT', url, { sign: false })).status, allowed ? 200 : 403, `row ${index}: in a link`)
    t.equal((await raw('HEAD', `/archive/${Key}`)).status, allowed ? 200 : 404, `row ${index}: what is written`)
  }
  const other = await identity([source, target])
  const missing = new CopyObjectCommand({ Bucket: 'archive', Key: 'copies/x', CopySource: 'photos/secret/none' })
  await isAllowed(t, errorName(other.s3.send(missing)), false, 'nothing is told of a source that may not be read')
})

test('locks and bypasses need their permissions, and a refusal changes nothing', async (t) => {
  await createLockBucket(server, 'held')
  const object = 'bucket:held/*'
  const Bucket = 'held'
  const until = new Date(later(DAY))
  const lock = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: until } as const
  const writer = await identity([allow([...WRITE, 's3:DeleteObject', 's3:DeleteObjectVersion'], object)])
  const retainer = await identity([allow([...WRITE, 's3:PutObjectRetention'], object)])
  const bypasser = await identity([allow(['s3:DeleteObjectVersion', 's3:BypassGovernanceRetention'], object)])
  await isAllowed(t, write(writer, 'a', Bucket), true, 'a writer that names no lock')
  const locked = (Key: string) => new PutObjectCommand({ Bucket, Key, Body: 'x', ...lock })
  await isAllowed(t, errorName(writer.s3.send(locked('b'))), false, 'a lock')
  await isAllowed(t, errorName(retainer.s3.send(locked('b'))), true, 'a lock with its permission')
  const hold = new PutObjectCommand({ Bucket, Key: 'c', Body: 'x', ObjectLockLegalHoldStatus: 'ON' })
  await isAllowed(t, errorName(retainer.s3.send(hold)), false, 'a hold is another permission')
  t.same(await historyOf(server, Bucket, 'c'), [])
  const [version = ''] = await historyOf(server, Bucket, 'b')
  const VersionId = version.replace('*', '')
  const remove = (bypass: boolean) =>
    new DeleteObjectCommand({ Bucket, Key: 'b', VersionId, ...(bypass ? { BypassGovernanceRetention: true } : {}) })
  await isAllowed(t, errorName(writer.s3.send(remove(false))), false, 'the retention holds')
  await isAllowed(t, errorName(writer.s3.send(remove(true))), false, 'a header alone opens nothing')
  await isAllowed(t, errorName(bypasser.s3.send(remove(false))), false, 'a permission alone opens nothing')
  t.same(await historyOf(server, Bucket, 'b'), [version])
  await isAllowed(t, errorName(bypasser.s3.send(remove(true))), true, 'both do')
  t.same(await historyOf(server, Bucket, 'b'), [])
})

function removal({ s3 }: Identity, VersionId?: string): Promise<string> {
  return errorName(s3.send(new DeleteObjectCommand({ Bucket: 'held', Key: 'd', ...(VersionId && { VersionId }) })))
}

test('who may hide a key may not remove its versions', async (t) => {
  const hider = await identity([allow(['s3:DeleteObject'], 'bucket:held/*')])
  const remover = await identity([allow(['s3:DeleteObjectVersion'], 'bucket:held/*')])
  const id = await put(server, 'held/d', 'x')
  await isAllowed(t, removal(hider, id), false, 'by id')
  await isAllowed(t, removal(remover), false, 'without an id')
  await isAllowed(t, removal(hider), true, 'hidden')
  await isAllowed(t, removal(remover, id), true, 'removed')
})

test('an audit record names the account and the credential', async (t) => {
  const reader = await identity([allow(READ, 'bucket:photos/2026/*')])
  const { signing, account, credential } = reader
  const who = { principal: `service_account:${account.id}`, credentialId: credential.credential_id }
  for (const [path, result] of [
    ['/photos/2026/a', 'success'],
    ['/photos/secret/a', 'denied'],
  ] as const) {
    const answer = await raw('GET', path, signing)
    if (result === 'denied') isError(t, answer, 'AccessDenied', path)
    const id = answer.headers['x-amz-request-id']
    const records = (await server.journal()).filter(({ requestId }) => requestId === id)
    t.match(records, [{ ...who, result, operation: 's3:GET', resource: `bucket:${path.slice(1)}` }])
    t.equal(records.length, 1)
  }
})

test('nothing of this was a fault of the server', async (t) => {
  t.same(server.failures, [])
})
