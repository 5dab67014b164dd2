/** RenameObject on the wire (spec/decisions/0143). */
import { HeadObjectCommand, PutObjectCommand, RenameObjectCommand } from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { allow, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { createBucket, put, setVersioning } from '../../../support/wire-versions.ts'

const server = await startManaged({ extensions: ['rename-object'] })
tap.teardown(() => server.stop())
const { s3, raw } = server
await createBucket(server, 'names')

function rename(target: string, source: string, headers: readonly HeaderLine[] = []) {
  return raw('PUT', `/names/${target}?renameObject`, { headers: [['x-amz-rename-source', source], ...headers] })
}

async function holds(t: Test, key: string, body: string | undefined): Promise<void> {
  const answer = await raw('GET', `/names/${key}`)
  if (body === undefined) isError(t, answer, 'NoSuchKey', key)
  else t.equal(answer.text, body, key)
}

test('off, it is refused by name, and the refusal names the setting', async (t) => {
  const plain = await startInThread()
  t.teardown(() => plain.stop())
  await createBucket(plain, 'names')
  await put(plain, 'names/a', 'a')
  const headers = [['x-amz-rename-source', 'a']] as const
  const answer = await plain.raw('PUT', '/names/b?renameObject', { headers })
  isError(t, answer, 'NotImplemented', 'off')
  t.match(answer.text, /RenameObject is not supported.*s3\.profile=compatible, or with rename-object in s3\.extensions/)
  t.equal((await plain.raw('GET', '/names/a')).text, 'a')
})

test('the SDK renames, with a token of its own, and headers, metadata and checksum stay', async (t) => {
  const Bucket = 'names'
  const described = { ContentType: 'text/plain', Metadata: { colour: 'red' }, ChecksumAlgorithm: 'SHA1' as const }
  const { ETag } = await s3.send(new PutObjectCommand({ Bucket, Key: 'dir/old', Body: 'bytes', ...described }))
  const command = { Bucket, Key: 'dir/new', RenameSource: '/names/dir/old', ClientToken: 'a-token-of-the-client' }
  for (const _ of ['the request', 'its repeat']) await s3.send(new RenameObjectCommand(command))
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'dir/new', ChecksumMode: 'ENABLED' }))
  t.match(head, { ETag, ContentType: 'text/plain', Metadata: { colour: 'red' }, ContentLength: 5 })
  t.type(head.ChecksumSHA1, 'string')
  await holds(t, 'dir/old', undefined)
})

test('a source is a key, or the path of the bucket, percent-encoded once', async (t) => {
  const cases = [
    ['a b', 'a%20b'],
    ['a+b', '/names/a+b'],
    ['%41', '%2541'],
    ['naïve', '/names/na%C3%AFve'],
    ['x/names/y', 'x/names/y'],
    ['names/a', '/names/names/a'],
    ['dir/', 'dir%2F'],
  ] as const
  for (const [key, source] of cases) {
    await put(server, `names/${encodeURIComponent(key)}`, key)
    isDone(t, await rename('renamed', source), 200, source)
    await holds(t, 'renamed', key)
  }
})

test('what is no source is refused, and nothing changes', async (t) => {
  await put(server, 'names/a', 'a')
  const refusals = [
    ['', 'InvalidArgument'],
    ['/', 'InvalidArgument'],
    ['/names', 'InvalidArgument'],
    ['/names/', 'InvalidArgument'],
    ['names/a', 'InvalidArgument'],
    ['%zz', 'InvalidArgument'],
    ['/other/a', 'InvalidRequest'],
    ['k'.repeat(1025), 'KeyTooLongError'],
    ['missing', 'NoSuchKey'],
    ['b', 'InvalidRequest'],
  ] as const
  await put(server, 'names/b', 'b')
  for (const [source, code] of refusals) isError(t, await rename('b', source), code, source)
  isError(t, await raw('PUT', '/names/b?renameObject'), 'InvalidArgument', 'no source')
  await holds(t, 'a', 'a')
  await holds(t, 'b', 'b')
  isError(
    t,
    await raw('PUT', '/none/b?renameObject', { headers: [['x-amz-rename-source', 'a']] }),
    'NoSuchBucket',
    'no bucket',
  )
})

async function etagOf(key: string): Promise<string> {
  return String((await raw('HEAD', `/names/${key}`)).headers.etag)
}

test('conditions on the source and on the target; on time only those on the source', async (t) => {
  await put(server, 'names/from', 'from')
  await put(server, 'names/to', 'to')
  const [from, to] = [await etagOf('from'), await etagOf('to')]
  const failing = [
    ['x-amz-rename-source-if-match', to],
    ['x-amz-rename-source-if-none-match', from],
    ['x-amz-rename-source-if-none-match', '*'],
    ['x-amz-rename-source-if-unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT'],
    ['if-none-match', '*'],
    ['if-match', from],
  ] as const
  for (const line of failing) isError(t, await rename('to', 'from', [line]), 'PreconditionFailed', line.join(': '))
  for (const name of ['if-modified-since', 'if-unmodified-since']) {
    const answer = await rename('to', 'from', [[name, 'Sat, 01 Jan 2000 00:00:00 GMT']])
    isError(t, answer, 'NotImplemented', name)
  }
  await holds(t, 'to', 'to')
  const holding: HeaderLine[] = [
    ['if-match', to],
    ['x-amz-rename-source-if-match', from],
  ]
  isDone(t, await rename('to', 'from', holding), 200, 'renamed')
  await holds(t, 'to', 'from')
})

test('a token that is used for another source, or is none, is refused', async (t) => {
  await put(server, 'names/one', '1')
  await put(server, 'names/two', '2')
  const token = ['x-amz-client-token', '!~'.repeat(32)] as const
  isDone(t, await rename('three', 'one', [token]), 200, 'renamed')
  isDone(t, await rename('three', 'one', [token]), 200, 'again, though the source is gone')
  isDone(
    t,
    await rename('three', 'one', [token, ['x-amz-rename-source-if-match', '"x"']]),
    200,
    'whatever its condition',
  )
  isError(t, await rename('three', 'two', [token]), 'IdempotencyParameterMismatch', 'another source')
  for (const invalid of ['x'.repeat(65), 'a b', '']) {
    isError(t, await rename('four', 'two', [['x-amz-client-token', invalid]]), 'InvalidArgument', invalid)
  }
  await holds(t, 'two', '2')
})

test('a bucket with versioning, suspended or not, refuses and says what to do', async (t) => {
  await createBucket(server, 'versions')
  for (const status of ['enabled', 'suspended'] as const) {
    await setVersioning(server, 'versions', status)
    await put(server, 'versions/a', 'a')
    const answer = await raw('PUT', '/versions/b?renameObject', { headers: [['x-amz-rename-source', 'a']] })
    isError(t, answer, 'InvalidBucketState', status)
    t.match(answer.text, /Copy the object and delete the source/)
  }
})

test('two records, which name both keys', async (t) => {
  await put(server, 'names/before', 'x')
  for (const [source, result] of [
    ['before', 'success'],
    ['missing', 'failure'],
  ] as const) {
    const answer = await rename('after', source)
    const id = answer.headers['x-amz-request-id']
    const records = (await server.journal()).filter(({ requestId }) => requestId === id)
    t.match(
      records.map((record) => [
        record.result,
        record.resource,
        record.details.get('api'),
        record.details.get('source'),
      ]),
      ['attempted', result].map((each) => [each, 'bucket:names/after', 'RenameObject', `names/${source}`]),
    )
  }
})

test('reading and deleting the source, and writing the target, must be allowed', async (t) => {
  const all = [
    allow(['s3:PutObject'], 'bucket:names/target'),
    allow(['s3:GetObject'], 'bucket:names/source'),
    allow(['s3:DeleteObject'], 'bucket:names/source'),
  ]
  await put(server, 'names/source', 'x')
  const request = { headers: [['x-amz-rename-source', 'source']] as const }
  for (const left of all) {
    const identity = await newIdentity(
      server,
      all.filter((statement) => statement !== left),
    )
    t.teardown(() => identity.s3.destroy())
    const answer = await raw('PUT', '/names/target?renameObject', { ...request, ...identity.signing })
    isError(t, answer, 'AccessDenied', `all but ${left.actions.join()}`)
  }
  await holds(t, 'source', 'x')
  const identity = await newIdentity(server, all)
  t.teardown(() => identity.s3.destroy())
  isDone(t, await raw('PUT', '/names/target?renameObject', { ...request, ...identity.signing }), 200, 'renamed')
  await holds(t, 'target', 'x')
})

test('of twenty that rename one object, one wins; of twenty that race for one key, all do one after the other', async (t) => {
  await put(server, 'names/prize', 'prize')
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => rename(`won-${index}`, 'prize')))
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  t.equal(answers.filter(({ code }) => code === 'NoSuchKey').length, 19)
  const keys = Array.from({ length: 20 }, (_, index) => `runner-${index}`)
  for (const key of keys) await put(server, `names/${key}`, key)
  for (const answer of await Promise.all(keys.map((key) => rename('goal', key)))) isDone(t, answer, 200, 'renamed')
  t.ok(keys.includes((await raw('GET', '/names/goal')).text))
  const left = await Promise.all(keys.map((key) => raw('GET', `/names/${key}`)))
  t.ok(left.every(({ status }) => status === 404))
})
