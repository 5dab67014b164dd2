/** The extension tagging: what no tag can be, who may do what, and what is off without it. */
import { GetObjectTaggingCommand, HeadObjectCommand, PutObjectTaggingCommand, type Tag } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { BUCKET_TAG_BYTES_MAXIMUM, OBJECT_TAG_BYTES_MAXIMUM } from '../../../../engine/domain/tags.ts'
import { allow, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { startInThread } from '../../../support/test-server.ts'
import { createBucket, put, setVersioning } from '../../../support/wire-versions.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const server = await startManaged({ extensions: ['tagging', 'rename-object'] })
tap.teardown(() => server.stop())
const { raw, s3 } = server
const Bucket = 'tagged'
await createBucket(server, Bucket)
await createBucket(server, 'versions')
await setVersioning(server, 'versions', 'enabled')

const TEAM: Tag = { Key: 'team', Value: 'storage' }

async function tagsOf(Key: string): Promise<readonly Tag[]> {
  return (await s3.send(new GetObjectTaggingCommand({ Bucket, Key }))).TagSet ?? []
}

function documentOf(tags: readonly (readonly [key: string, value: string])[]): string {
  const set = tags.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`).join('')
  return `<Tagging><TagSet>${set}</TagSet></Tagging>`
}

const ELEVEN = Array.from({ length: 11 }, (_, at) => [`k${at}`, 'v'] as const)
const CJK = Array.from({ length: 10 }, (_, at) => [`${at}${'鍵'.repeat(127)}`, '値'.repeat(256)] as const)

test('what no tag can be is refused by name, in documents and in the header', async (t) => {
  await put(server, `${Bucket}/refusing`, 'bytes')
  const target = `/${Bucket}/refusing?tagging`
  const bad = (body: string) => raw('PUT', target, { body })
  isError(t, await bad(documentOf(ELEVEN)), 'BadRequest', 'eleven')
  isDone(t, await bad(documentOf(ELEVEN.slice(1))), 200, 'ten')
  isError(t, await bad(documentOf([['a'.repeat(129), 'v']])), 'InvalidTag', 'a long key')
  isError(t, await bad(documentOf([['a', 'v'.repeat(257)]])), 'InvalidTag', 'a long value')
  isError(t, await bad(documentOf([['', 'v']])), 'InvalidTag', 'no key')
  isError(t, await bad(documentOf([['a?', 'v']])), 'InvalidTag', 'a character in a key')
  isError(t, await bad(documentOf([['a', 'v\n']])), 'InvalidTag', 'a line end in a value')
  isError(t, await bad(documentOf([['aws:a', 'v']])), 'InvalidTag', 'of AWS')
  isError(t, await bad(documentOf([['AWS:a', 'v']])), 'InvalidTag', 'of AWS')
  const twice = [
    ['a', '1'],
    ['a', '2'],
  ] as const
  isError(t, await bad(documentOf(twice)), 'InvalidTag', 'a key twice')
  isError(t, await bad(documentOf(CJK)), 'InvalidTag', `more than ${OBJECT_TAG_BYTES_MAXIMUM} bytes`)
  const most = Array.from({ length: 50 }, (_, at) => [`${at}${'鍵'.repeat(120)}`, '値'.repeat(256)] as const)
  const bucket = (body: string) => raw('PUT', `/${Bucket}?tagging`, { body })
  isError(t, await bucket(documentOf(most)), 'InvalidTag', `more than ${BUCKET_TAG_BYTES_MAXIMUM} bytes`)
  isError(t, await bucket(documentOf([...most, ['51', '']])), 'BadRequest', 'fifty-one')
  for (const body of [
    '',
    'tags',
    '<Tagging/>',
    '<Tagging><TagSet/><TagSet/></Tagging>',
    '<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>',
    '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value><Value>c</Value></Tag></TagSet></Tagging>',
    '<Tagging><TagSet><Tag><Key><b/></Key><Value>b</Value></Tag></TagSet></Tagging>',
    '<Tagging><TagSet><Other/></TagSet></Tagging>',
    '<Tags><TagSet/></Tags>',
  ]) {
    isError(t, await bad(body), 'MalformedXML', body)
    isError(t, await bucket(body), 'MalformedXML', body)
  }
  const send = (tagging: string) =>
    raw('PUT', `/${Bucket}/header`, { body: 'x', headers: [['x-amz-tagging', tagging]] })
  for (const tagging of ['a=1&a=2', 'a=%zz', 'a=%ff', '%c3=a']) {
    isError(t, await send(tagging), 'InvalidArgument', tagging)
  }
  for (const tagging of ['=1', 'a=1&', 'aws:x=1', 'a=%00', `a=${'v'.repeat(257)}`]) {
    isError(t, await send(tagging), 'InvalidTag', tagging)
  }
  isError(t, await send(ELEVEN.map(([key]) => key).join('&')), 'BadRequest', 'eleven')
  isError(t, await raw('GET', `/${Bucket}/header`), 'NoSuchKey', 'nothing was written')
  isDone(t, await send(''), 200, 'an empty header')
  t.same(await tagsOf('header'), [])
  const part = raw('PUT', `/${Bucket}/header?partNumber=1&uploadId=x`, {
    body: 'x',
    headers: [['x-amz-tagging', 'a=1']],
  })
  isError(t, await part, 'NotImplemented', 'no header of a part')
})

test('the longest tags beside the longest headers and names fit into an entry', async (t) => {
  const key = 'k'.repeat(1000)
  const tags = Array.from({ length: 10 }, (_, at) => [`${at}${'é'.repeat(127)}`, 'é'.repeat(256)] as const)
  const described = [['content-type', `text/${'x'.repeat(12_000)}`]] as const
  isDone(t, await raw('PUT', `/${Bucket}/${key}`, { body: 'x', headers: described }), 200, 'written')
  isDone(t, await raw('PUT', `/${Bucket}/${key}?tagging`, { body: documentOf(tags) }), 200, 'tagged')
  const source = [['x-amz-copy-source', `${Bucket}/${key}`]] as const
  isDone(t, await raw('PUT', `/${Bucket}/c${key}`, { headers: source }), 200, 'copied')
  const rename = [['x-amz-rename-source', `/${Bucket}/${key}`]] as const
  isDone(t, await raw('PUT', `/${Bucket}/r${key}?renameObject`, { headers: rename }), 200, 'renamed')
  t.equal((await tagsOf(`c${key}`)).length, 10)
  t.same(await tagsOf(`r${key}`), await tagsOf(`c${key}`))
})

test('each operation and the header have their permission', async (t) => {
  await put(server, 'versions/permitted', 'bytes', [['x-amz-tagging', 'a=1']])
  const version = await put(server, 'versions/permitted', 'bytes', [['x-amz-tagging', 'a=1']])
  const may = async (actions: readonly string[], method: string, target: string, headers: [string, string][] = []) => {
    const { signing } = await newIdentity(server, [allow(actions, 'bucket:*')])
    const body = target.includes('tagging') && method === 'PUT' ? documentOf([['b', '2']]) : ''
    return (await raw(method, target, { ...signing, body, headers })).status
  }
  const key = '/versions/permitted'
  const named = `${key}?tagging&versionId=${version}`
  for (const [method, action, target, done] of [
    ['GET', 's3:GetObjectTagging', `${key}?tagging`, 200],
    ['PUT', 's3:PutObjectTagging', `${key}?tagging`, 200],
    ['DELETE', 's3:DeleteObjectTagging', `${key}?tagging`, 204],
    ['GET', 's3:GetObjectVersionTagging', named, 200],
    ['PUT', 's3:PutObjectVersionTagging', named, 200],
    ['DELETE', 's3:DeleteObjectVersionTagging', named, 204],
    ['PUT', 's3:PutBucketTagging', '/versions?tagging', 204],
    ['GET', 's3:GetBucketTagging', '/versions?tagging', 200],
    ['GET', 's3:ManageBucket', '/versions?tagging', 200],
    ['PUT', 's3:ManageBucket', '/versions?tagging', 204],
    ['DELETE', 's3:PutBucketTagging', '/versions?tagging', 204],
  ] as const) {
    t.equal(await may([action], method, target), done, `${method} ${target}`)
    t.equal(await may(['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], method, target), 403, `${method} without`)
  }
  const Tagging = { TagSet: [TEAM] }
  await s3.send(new PutObjectTaggingCommand({ Bucket: 'versions', Key: 'permitted', Tagging }))
  const header: [string, string][] = [['x-amz-tagging', 'a=1']]
  t.equal(await may(['s3:PutObject'], 'PUT', '/versions/new', header), 403, 'tags without the permission')
  t.equal(await may(['s3:PutObject', 's3:PutObjectTagging'], 'PUT', '/versions/new', header), 200, 'with it')
  const copy: [string, string][] = [['x-amz-copy-source', 'versions/permitted']]
  const both = ['s3:PutObject', 's3:GetObject']
  t.equal(await may([...both, 's3:PutObjectTagging'], 'PUT', '/versions/copy', copy), 403, 'tags that it may not read')
  t.equal(await may([...both, 's3:GetObjectTagging'], 'PUT', '/versions/copy', copy), 403, 'tags that it may not set')
  const all = [...both, 's3:GetObjectTagging', 's3:PutObjectTagging']
  t.equal(await may(all, 'PUT', '/versions/copy', copy), 200, 'both')
  const none: [string, string][] = [...copy, ['x-amz-tagging-directive', 'REPLACE']]
  t.equal(await may(both, 'PUT', '/versions/copy', none), 200, 'a copy without tags')
  const { s3: reader } = await newIdentity(server, [allow(['s3:GetObject'], 'bucket:*')])
  const head = new HeadObjectCommand({ Bucket: 'versions', Key: 'permitted' })
  t.equal((await reader.send(head)).TagCount, undefined, 'who may not read tags does not learn how many there are')
  t.equal((await s3.send(head)).TagCount, 1)
})

test('a read of tags is served by the extensions that had it before, and nothing else', async (t) => {
  const older = await startInThread({ extensions: ['upload-part-copy', 'bucket-reads'] })
  t.teardown(() => older.stop())
  await older.raw('PUT', '/older')
  await older.raw('PUT', '/older/key', { body: 'bytes' })
  isDone(t, await older.raw('GET', '/older/key?tagging'), 200, 'the empty set')
  isError(t, await older.raw('GET', '/older?tagging'), 'NoSuchTagSet', 'of the bucket')
  const body = documentOf([['a', '1']])
  for (const target of ['/older/key?tagging', '/older?tagging']) {
    for (const method of ['PUT', 'DELETE']) {
      const answer = await older.raw(method, target, method === 'PUT' ? { body } : {})
      isError(t, answer, 'NotImplemented', `${method} ${target}`)
      t.match(answer.text, 's3.profile=compatible, or with tagging in s3.extensions', 'the way at the server')
    }
  }
  const tagged = await older.raw('PUT', '/older/key', { body: 'x', headers: [['x-amz-tagging', 'a=1']] })
  isError(t, tagged, 'NotImplemented', 'the header')
  t.match(tagged.text, 'with tagging in s3.extensions')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
})
