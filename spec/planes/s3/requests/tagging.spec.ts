/** The extension tagging: tags of versions and buckets, which writes, copies and uploads carry. */
import { rmSync } from 'node:fs'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteBucketTaggingCommand,
  DeleteObjectTaggingCommand,
  GetBucketTaggingCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type Tag,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import { allow, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { rebuiltTables } from '../../../support/rebuilt-tables.ts'
import { eventsDuring } from '../../../support/storage-events.ts'
import { startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { dumpStore } from '../../../support/test-store.ts'
import { createBucket, put, remove, setVersioning } from '../../../support/wire-versions.ts'
import { createLockBucket, DAY, later, lockLines } from '../../../support/wire-locks.ts'
import { errorName, isDone, isError } from '../../../support/wire-assertions.ts'

const dataDirectory = temporaryDirectory()
const extensions = ['tagging', 'append', 'rename-object'] as const
const server = await startManaged({ extensions, dataDirectory })
let isStopped = false
tap.teardown(async () => {
  if (!isStopped) await server.stop()
  rmSync(dataDirectory, { recursive: true, force: true })
})
const { raw, s3, api } = server
const Bucket = 'tagged'
await createBucket(server, Bucket)
await createBucket(server, 'versions')
await setVersioning(server, 'versions', 'enabled')

const TEAM: Tag = { Key: 'team', Value: 'storage + more' }
const ODD: Tag = { Key: ' Größe_1.2:/=+-@', Value: '' }

async function tagsOf(Key: string, of = Bucket, VersionId?: string): Promise<readonly Tag[]> {
  return (await s3.send(new GetObjectTaggingCommand({ Bucket: of, Key, VersionId }))).TagSet ?? []
}

function setTags(Key: string, TagSet: Tag[], of = Bucket, VersionId?: string) {
  return s3.send(new PutObjectTaggingCommand({ Bucket: of, Key, VersionId, Tagging: { TagSet } }))
}

/** The number of tags as HEAD and GET tell it; 0 without the header. */
async function countOf(t: Test, Key: string): Promise<number> {
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key }))
  const got = await s3.send(new GetObjectCommand({ Bucket, Key }))
  await got.Body?.transformToString()
  t.equal(head.TagCount, got.TagCount, 'HEAD and GET')
  return head.TagCount ?? 0
}

test('tags are set, read as they were given, counted, replaced as a whole and removed', async (t) => {
  const Key = 'object'
  await put(server, `${Bucket}/${Key}`, 'bytes')
  t.same(await tagsOf(Key), [])
  t.equal(await countOf(t, Key), 0)
  await setTags(Key, [TEAM, ODD])
  t.same(await tagsOf(Key), [TEAM, ODD])
  t.equal(await countOf(t, Key), 2)
  await setTags(Key, [ODD])
  t.same(await tagsOf(Key), [ODD])
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
  t.equal(await Body?.transformToString(), 'bytes')
  await s3.send(new DeleteObjectTaggingCommand({ Bucket, Key }))
  t.same(await tagsOf(Key), [])
  isDone(t, await raw('DELETE', `/${Bucket}/${Key}?tagging`), 204, 'again')
  await setTags(Key, [TEAM])
  await setTags(Key, [])
  t.same(await tagsOf(Key), [], 'an empty set')
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const body = method === 'PUT' ? '<Tagging><TagSet/></Tagging>' : ''
    isError(t, await raw(method, `/${Bucket}/none?tagging`, { body }), 'NoSuchKey', method)
    isError(t, await raw(method, `/none/${Key}?tagging`, { body }), 'NoSuchBucket', method)
  }
})

test('each version has its own tags, a marker has none, and every answer names the version', async (t) => {
  const of = 'versions'
  const first = await put(server, `${of}/key`, 'one', [['x-amz-tagging', 'n=1']])
  const second = await put(server, `${of}/key`, 'two')
  t.same(await tagsOf('key', of), [])
  t.same(await tagsOf('key', of, first), [{ Key: 'n', Value: '1' }])
  t.equal((await setTags('key', [TEAM], of, first)).VersionId, first)
  t.equal((await setTags('key', [ODD], of)).VersionId, second)
  t.same(await tagsOf('key', of, first), [TEAM])
  t.same(await tagsOf('key', of, second), [ODD])
  const marker = await remove(server, `${of}/key`)
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const body = method === 'PUT' ? '<Tagging><TagSet/></Tagging>' : ''
    const named = await raw(method, `/${of}/key?tagging&versionId=${marker}`, { body })
    isError(t, named, 'MethodNotAllowed', `${method} of a marker`)
    t.equal(named.headers['x-amz-delete-marker'], 'true')
    isError(t, await raw(method, `/${of}/key?tagging`, { body }), 'NoSuchKey', `${method} of a hidden key`)
  }
  t.same(await tagsOf('key', of, first), [TEAM])
  const answer = await s3.send(new DeleteObjectTaggingCommand({ Bucket: of, Key: 'key', VersionId: first }))
  t.equal(answer.VersionId, first)
  await remove(server, `${of}/key`, marker)
  t.same(await tagsOf('key', of), [ODD], 'the version that is current again')
  await remove(server, `${of}/key`, second)
  t.same(await tagsOf('key', of), [])
  await setVersioning(server, of, 'suspended')
  await put(server, `${of}/key`, 'null')
  t.equal((await setTags('key', [TEAM], of, 'null')).VersionId, 'null')
  await setVersioning(server, of, 'enabled')
  await put(server, `${of}/key`, 'newer')
  t.same(await tagsOf('key', of, 'null'), [TEAM], 'the null version, noncurrent')
  t.equal((await setTags('key', [ODD], of, 'null')).VersionId, 'null')
  t.same(await tagsOf('key', of, 'null'), [ODD])
  isError(t, await raw('GET', `/${of}/key?tagging&versionId=${'0'.repeat(22)}`), 'NoSuchVersion', 'no such version')
})

function offset(bytes: number) {
  return [['x-amz-write-offset-bytes', String(bytes)]] as const
}

test('writes, uploads and copies carry tags; appends and renames keep them', async (t) => {
  await s3.send(new PutObjectCommand({ Bucket, Key: 'written', Body: 'x', Tagging: 'a=1&b=x+y%2Bz&c' }))
  const written = [
    { Key: 'a', Value: '1' },
    { Key: 'b', Value: 'x y+z' },
    { Key: 'c', Value: '' },
  ]
  t.same(await tagsOf('written'), written)
  await s3.send(new CopyObjectCommand({ Bucket, Key: 'copied', CopySource: `${Bucket}/written` }))
  t.same(await tagsOf('copied'), written)
  const copy = { Bucket, Key: 'replaced', CopySource: `${Bucket}/written` }
  await s3.send(new CopyObjectCommand({ ...copy, TaggingDirective: 'REPLACE', Tagging: 'd=4' }))
  t.same(await tagsOf('replaced'), [{ Key: 'd', Value: '4' }])
  await s3.send(new CopyObjectCommand({ ...copy, TaggingDirective: 'REPLACE' }))
  t.same(await tagsOf('replaced'), [])
  t.equal(await errorName(s3.send(new CopyObjectCommand({ ...copy, Tagging: 'd=4' }))), 'InvalidArgument')
  const other = raw('PUT', `/${Bucket}/replaced`, {
    headers: [
      ['x-amz-copy-source', `${Bucket}/written`],
      ['x-amz-tagging-directive', 'OTHER'],
    ],
  })
  isError(t, await other, 'InvalidArgument', 'another directive')
  const place = { Bucket, Key: 'parts' }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...place, Tagging: 'a=1' }))
  const { ETag } = await s3.send(new UploadPartCommand({ ...place, UploadId, PartNumber: 1, Body: 'part' }))
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
  await s3.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload }))
  t.same(await tagsOf('parts'), [{ Key: 'a', Value: '1' }])
  isDone(t, await raw('PUT', `/${Bucket}/written`, { body: 'y', headers: offset(1) }), 200, 'an append')
  t.same(await tagsOf('written'), written)
  const tagging = [...offset(2), ['x-amz-tagging', 'a=1']] as const
  isError(t, await raw('PUT', `/${Bucket}/written`, { body: 'y', headers: tagging }), 'InvalidRequest', 'append')
  const renamed = await raw('PUT', `/${Bucket}/renamed?renameObject`, {
    headers: [['x-amz-rename-source', `/${Bucket}/written`]],
  })
  isDone(t, renamed, 200, 'a rename')
  t.same(await tagsOf('renamed'), written)
  await put(server, `${Bucket}/renamed`, 'written again')
  t.same(await tagsOf('renamed'), [], 'another write has no tags of the one before')
})

function rename(source: string, signing: object) {
  const headers = [['x-amz-rename-source', `/${Bucket}/${source}`]] as const
  return raw('PUT', `/${Bucket}/moved/${source}?renameObject`, { headers, ...signing })
}

test('a rename of what has tags needs the permissions of a copy that keeps them', async (t) => {
  const all = ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']
  const tagger = [...all, 's3:GetObjectTagging', 's3:PutObjectTagging']
  for (const [actions, code] of [
    [all, 'AccessDenied'],
    [[...all, 's3:GetObjectTagging'], 'AccessDenied'],
    [[...all, 's3:PutObjectTagging'], 'AccessDenied'],
    [tagger, undefined],
  ] as const) {
    const { signing } = await newIdentity(server, [allow(actions, `bucket:${Bucket}/*`)])
    await put(server, `${Bucket}/tagged`, 'bytes', [['x-amz-tagging', 'a=1']])
    await put(server, `${Bucket}/plain`, 'bytes')
    isDone(t, await rename('plain', signing), 200, 'without tags')
    const answer = await rename('tagged', signing)
    if (code === undefined) isDone(t, answer, 200, 'with both')
    else isError(t, answer, code, actions.join())
  }
})

test('tags of a locked version may change, and its lock stays', async (t) => {
  await createLockBucket(server, 'locked')
  const lock = lockLines({ mode: 'COMPLIANCE', until: later(DAY), hold: 'ON' })
  const version = await put(server, 'locked/key', 'bytes', [...lock, ['x-amz-tagging', 'a=1']])
  await setTags('key', [TEAM], 'locked')
  t.same(await tagsOf('key', 'locked', version), [TEAM])
  const head = await s3.send(new HeadObjectCommand({ Bucket: 'locked', Key: 'key' }))
  t.match(head, { ObjectLockMode: 'COMPLIANCE', ObjectLockLegalHoldStatus: 'ON', TagCount: 1 })
  isError(t, await raw('DELETE', `/locked/key?versionId=${version}`), 'AccessDenied', 'the lock')
  await raw('PUT', `/locked/key?legal-hold&versionId=${version}`, {
    body: '<LegalHold><Status>OFF</Status></LegalHold>',
  })
  t.same(await tagsOf('key', 'locked', version), [TEAM], 'a change of the lock keeps the tags')
})

test('tags of buckets', async (t) => {
  isError(t, await raw('GET', `/${Bucket}?tagging`), 'NoSuchTagSet', 'none')
  const TagSet = Array.from({ length: 50 }, (_, at) => ({ Key: `${at}`.padEnd(128, 'k'), Value: 'v'.repeat(256) }))
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }))
  t.same((await s3.send(new GetBucketTaggingCommand({ Bucket }))).TagSet, TagSet, 'as many and as long as S3 has them')
  const [attempt, outcome] = (await server.journal()).slice(-3)
  t.match(attempt, { result: 'attempted' })
  t.match(Object.fromEntries(outcome?.details ?? []), { api: 'PutBucketTagging', tags_before: 'none' })
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [TEAM] } }))
  t.same((await s3.send(new GetBucketTaggingCommand({ Bucket }))).TagSet, [TEAM])
  await s3.send(new DeleteBucketTaggingCommand({ Bucket }))
  isError(t, await raw('GET', `/${Bucket}?tagging`), 'NoSuchTagSet', 'removed')
  isDone(t, await raw('DELETE', `/${Bucket}?tagging`), 204, 'again')
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const body = method === 'PUT' ? '<Tagging><TagSet/></Tagging>' : ''
    isError(t, await raw(method, '/none?tagging', { body }), 'NoSuchBucket', method)
  }
  await createBucket(server, 'again')
  await s3.send(new PutBucketTaggingCommand({ Bucket: 'again', Tagging: { TagSet: [TEAM] } }))
  isDone(t, await raw('DELETE', '/again'), 204, 'the bucket is deleted')
  await createBucket(server, 'again')
  isError(t, await raw('GET', '/again?tagging'), 'NoSuchTagSet', 'another bucket of the same name')
})

test('records, storage events and the management plane tell the tags', async (t) => {
  const Key = 'told'
  const events = await eventsDuring(api, async () => {
    await put(server, `${Bucket}/${Key}`, 'bytes', [['x-amz-tagging', 'a=1']])
    await setTags(Key, [TEAM])
    await s3.send(new DeleteObjectTaggingCommand({ Bucket, Key }))
    await s3.send(new DeleteObjectTaggingCommand({ Bucket, Key }))
    await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [TEAM] } }))
  })
  const object = { bucket: Bucket, object: Key, version_id: 'null', size: 5 }
  t.match(events, [
    { type: 'object.created', ...object, metadata: { tags: 'a=1', etag: /^[0-9a-f]{32}$/ } },
    { type: 'object.tagged', ...object, metadata: { tags: 'team=storage%20%2B%20more' } },
    { type: 'object.untagged', ...object, metadata: { principal_kind: 'root' } },
  ])
  t.equal(events.length, 3, 'removing what is not there, and tags of a bucket, make no event')
  const filtered = await api.get<{ events: readonly unknown[] }>('GET', '/events?type=object.tagged&limit=1000')
  t.match(filtered.events.at(-1), events[1])
  const details = (await server.journal())
    .filter(({ result, resource }) => result === 'success' && resource === `bucket:${Bucket}/${Key}`)
    .map(({ details: pairs }) => Object.fromEntries(pairs ?? []))
  t.match(details, [
    { api: 'PutObject', tags: 'a=1' },
    { api: 'PutObjectTagging', tags: 'team=storage%20%2B%20more', tags_before: 'a=1' },
    { api: 'DeleteObjectTagging', tags: 'none', tags_before: 'team=storage%20%2B%20more' },
    { api: 'DeleteObjectTagging', tags: 'none', tags_before: 'none' },
  ])
  await setTags(Key, [TEAM])
  t.match(await api.get('GET', `/buckets/${Bucket}/object/${Key}`), { tags: { team: 'storage + more' } })
  await put(server, `${Bucket}/${Key}`, 'bytes')
  t.notOk('tags' in (await api.get<object>('GET', `/buckets/${Bucket}/object/${Key}`)), 'none without tags')
})

test('a replay of the journal gives the same rows and the same answers', async (t) => {
  t.same(server.failures, [], 'nothing of all this was a fault of the server')
  await setTags('parts', [TEAM, ODD])
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [ODD] } }))
  const kept = { Bucket, Key: 'waiting' }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...kept, Tagging: 'a=1' }))
  isStopped = true
  await server.stop()
  t.same(await dumpStore(server.paths), await rebuiltTables(server.paths))
  rmSync(server.paths.projections, { recursive: true })
  const again = await startInThread({ extensions, dataDirectory })
  t.teardown(() => again.stop())
  const read = await again.s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'parts' }))
  t.same(read.TagSet, [TEAM, ODD])
  t.same((await again.s3.send(new GetBucketTaggingCommand({ Bucket }))).TagSet, [ODD])
  const { ETag } = await again.s3.send(new UploadPartCommand({ ...kept, UploadId, PartNumber: 1, Body: 'part' }))
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
  await again.s3.send(new CompleteMultipartUploadCommand({ ...kept, UploadId, MultipartUpload }))
  const { TagSet } = await again.s3.send(new GetObjectTaggingCommand(kept))
  t.same(TagSet, [{ Key: 'a', Value: '1' }], 'an upload over the restart')
})
