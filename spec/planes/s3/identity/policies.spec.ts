/**
 * What policies let service accounts do, from the management plane to the SDK.
 * Proves: RES-POL-04.
 */
import { CopyObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import type { PolicyStatement } from '../../../../engine/events/values.ts'
import { allow, deny, type Identity, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { createUpload, partTarget, uploadTarget } from '../../../support/multipart.ts'
import { elements } from '../../../support/wire-client.ts'
import type { QueryParameter } from '../../../../planes/s3/request/query-parameters.ts'
import { errorName, isDone } from '../../../support/wire-assertions.ts'
import { createBucket, put } from '../../../support/wire-versions.ts'

const server = await startManaged({ extensions: ['append', 'upload-part-copy'] })
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

async function isAllowed(t: Test, outcome: Promise<string>, allowed: boolean, name: string): Promise<void> {
  t.equal(await outcome, allowed ? 'no error' : 'AccessDenied', name)
}

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

/** Ways to name the source of a copy. */
const SOURCE_NAMES = ['/photos/2026/a', 'photos%2F2026%2Fa', '/photos/2026/%61', 'photos/2026/a?versionId=null']
const SOURCE = allow(READ, 'bucket:photos/2026/a')

/** Policies of accounts that copy photos/2026/a into a folder of the archive, and whether they may. */
function copyRules(folder: string): [statements: PolicyStatement[], allowed: boolean][] {
  const target = allow(WRITE, `bucket:archive/${folder}/*`)
  return [
    [[SOURCE], false],
    [[target], false],
    [[SOURCE, target], true],
    [[SOURCE, target, deny(READ, 'bucket:photos/*')], false],
    [[SOURCE, target, deny(WRITE, 'bucket:archive/*')], false],
    [[allow(READ, `bucket:archive/${folder}/*`), allow(WRITE, 'bucket:photos/2026/a')], false],
  ]
}

test('a copy needs to read its source and to write its target', async (t) => {
  for (const [index, [statements, allowed]] of copyRules('copies').entries()) {
    const { s3, signing } = await identity(statements)
    const Key = `copies/${index}`
    const copy = new CopyObjectCommand({ Bucket: 'archive', Key, CopySource: 'photos/2026/a' })
    await isAllowed(t, errorName(s3.send(copy)), allowed, `row ${index}`)
    for (const name of SOURCE_NAMES) {
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
  const other = await identity([SOURCE, allow(WRITE, 'bucket:archive/copies/*')])
  const missing = new CopyObjectCommand({ Bucket: 'archive', Key: 'copies/x', CopySource: 'photos/secret/none' })
  await isAllowed(t, errorName(other.s3.send(missing)), false, 'nothing is said about a source that may not be read')
})

/** The header of an append. */
function offset(bytes: number) {
  return [['x-amz-write-offset-bytes', String(bytes)] as const]
}

test('an append asks for the size of what is there, which needs the permission to read', async (t) => {
  await put(server, 'archive/appended', 'x')
  const writer = await identity([allow(WRITE, 'bucket:archive/*')])
  const both = await identity([allow([...WRITE, ...READ], 'bucket:archive/*')])
  const reader = await identity([allow(READ, 'bucket:archive/*')])
  for (const key of ['appended', 'none']) {
    for (const bytes of [0, 1, 2]) {
      for (const { signing } of [writer, reader]) {
        const answer = await raw('PUT', `/archive/${key}`, { ...signing, headers: offset(bytes), body: 'y' })
        t.equal(answer.code, 'AccessDenied', `${key} at ${bytes}`)
      }
    }
  }
  const url = server.wire.presigned('PUT', '/archive/appended', {
    ...writer.signing.sign,
    query: [['x-amz-write-offset-bytes', '1']],
  })
  t.equal((await raw('PUT', url, { sign: false, body: 'y' })).code, 'AccessDenied', 'in a link')
  t.equal((await raw('GET', '/archive/appended')).text, 'x')
  const done = await raw('PUT', '/archive/appended', { ...both.signing, headers: offset(1), body: 'y' })
  t.equal(done.status, 200)
  t.equal((await raw('GET', '/archive/appended')).text, 'xy')
})

test('a copy of a part needs to read its source and to write its target', async (t) => {
  for (const [index, [statements, allowed]] of copyRules('parts').entries()) {
    const { signing } = await identity(statements)
    const key = `/archive/parts/${index}`
    const upload = await createUpload(server, key)
    const part = partTarget(key, upload, 1)
    for (const name of SOURCE_NAMES) {
      for (const range of [[], [['x-amz-copy-source-range', 'bytes=0-1'] as const]]) {
        const answer = await raw('PUT', part, { ...signing, headers: [['x-amz-copy-source', name], ...range] })
        t.equal(answer.status, allowed ? 200 : 403, `row ${index}: ${name}`)
      }
    }
    const query: QueryParameter[] = [
      ['partNumber', '2'],
      ['uploadId', upload],
      ['x-amz-copy-source', 'photos/2026/a'],
    ]
    const url = server.wire.presigned('PUT', key, { ...signing.sign, query })
    t.equal((await raw('PUT', url, { sign: false })).status, allowed ? 200 : 403, `row ${index}: in a link`)
    const other = await raw('PUT', part, { ...signing, headers: [['x-amz-copy-source', 'photos/secret/none']] })
    t.equal(other.status, 403, `row ${index}: nothing is said about a source that may not be read`)
    const listed = await raw('GET', uploadTarget(key, upload))
    t.equal(elements(listed.text, 'PartNumber').length, allowed ? 2 : 0, `row ${index}: what is written`)
  }
})

test('a write that names an ETag asks what is there, which needs the permission to read', async (t) => {
  await put(server, 'archive/conditional', 'x')
  const etag = '"9dd4e461268c8034f5c8564e155c67a6"'
  const writer = await identity([allow(['s3:PutObject', 's3:DeleteObject'], 'bucket:archive/*')])
  const both = await identity([allow(['s3:PutObject', 's3:DeleteObject', 's3:GetObject'], 'bucket:archive/*')])
  const source = ['x-amz-copy-source', 'archive/conditional'] as const
  for (const [name, value, isDenied] of [
    ['if-match', '"0"', true],
    ['if-match', etag, true],
    ['if-match', '', true],
    ['if-match', 'W/*', true],
    ['if-none-match', etag, true],
    ['if-none-match', '*, "0"', true],
    ['if-none-match', '*', false],
    ['if-match', '*', false],
  ] as const) {
    for (const key of ['conditional', 'none', 'new']) {
      const target = `/archive/${key}`
      const asked = { headers: [[name, value] as const] }
      const list = { ...asked, body: '<CompleteMultipartUpload/>' }
      const what = `${name}: ${value} on ${key}`
      const answers = [
        await raw('PUT', target, { ...writer.signing, ...asked, body: 'y' }),
        await raw('POST', `${target}?uploadId=none`, { ...writer.signing, ...list }),
      ]
      if (isDenied) answers.push(await raw('DELETE', target, { ...writer.signing, ...asked }))
      for (const answer of answers) t.equal(answer.code === 'AccessDenied', isDenied, `${what}: ${answer.status}`)
      const reader = await raw('POST', `${target}?uploadId=none`, { ...both.signing, ...list })
      t.not(reader.code, 'AccessDenied', `${what}, by who may read`)
      const copy = await raw('PUT', target, { ...both.signing, headers: [source, ...asked.headers] })
      t.not(copy.code, 'AccessDenied', `${what}, a copy by who may read`)
    }
  }
  t.equal(
    (await raw('PUT', '/archive/conditional', { ...writer.signing, body: 'y' })).status,
    200,
    'without a condition',
  )
})

test('nothing of this was a fault of the server', async (t) => {
  t.same(server.failures, [])
})
