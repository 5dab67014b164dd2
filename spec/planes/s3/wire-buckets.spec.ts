import { hash } from 'node:crypto'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetBucketLocationCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError, XML_DECLARATION } from '../../support/wire-assertions.ts'
import { elements, firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

function configuration(inner: string): string {
  return `<CreateBucketConfiguration xmlns="${NAMESPACE}">${inner}</CreateBucketConfiguration>`
}

test('a bucket is made once, found, and deleted when it is empty', async (t) => {
  const created = await raw('PUT', '/first-bucket')
  isDone(t, created, 200, 'create')
  t.equal(created.headers.location, '/first-bucket')
  t.equal(created.body.length, 0)
  for (const target of ['/first-bucket', '/first-bucket/']) {
    const again = await raw('PUT', target)
    isDone(t, again, 200, `${target} a second time; with a slash it is the same resource`)
    t.equal(again.headers.location, '/first-bucket')
  }
  t.equal(await errorName(s3.send(new CreateBucketCommand({ Bucket: 'first-bucket' }))), 'no error')

  const head = await raw('HEAD', '/first-bucket')
  isDone(t, head, 200, 'head')
  t.equal(head.headers['x-amz-bucket-region'], 'us-east-1')
  t.equal(head.body.length, 0)
  await s3.send(new HeadBucketCommand({ Bucket: 'first-bucket' }))
  t.equal(await errorName(s3.send(new HeadBucketCommand({ Bucket: 'no-such-bucket' }))), 'NotFound')

  await s3.send(new PutObjectCommand({ Bucket: 'first-bucket', Key: 'k', Body: 'bytes' }))
  isError(t, await raw('DELETE', '/first-bucket'), 'BucketNotEmpty', 'not empty')
  isDone(t, await raw('DELETE', '/first-bucket/k'), 204, 'empty it')
  const deleted = await raw('DELETE', '/first-bucket/')
  isDone(t, deleted, 204, 'delete')
  t.equal(deleted.headers['content-length'], undefined)
  isError(t, await raw('DELETE', '/first-bucket'), 'NoSuchBucket', 'gone')
})

test('a second creation is a success only where it asks for what is there', async (t) => {
  const lock: HeaderLine[] = [['x-amz-bucket-object-lock-enabled', 'true']]
  const elsewhere = { body: configuration('<LocationConstraint>eu-west-1</LocationConstraint>') }
  const here = { body: configuration('<LocationConstraint>us-east-1</LocationConstraint>') }
  for (const [bucket, same, others] of [
    ['twice-plain', {}, [{ headers: lock }, elsewhere]],
    ['twice-locked', { headers: lock }, [{}, here, { headers: lock, ...elsewhere }]],
    // Outside of us-east-1 S3 takes no creation twice.
    ['twice-elsewhere', elsewhere, [elsewhere, {}, here]],
  ] as const) {
    isDone(t, await raw('PUT', `/${bucket}`, same), 200, bucket)
    await raw('PUT', `/${bucket}/k`, { body: 'bytes' })
    const lockBefore = (await raw('GET', `/${bucket}?object-lock`)).status
    for (const [index, options] of others.entries()) {
      const refused = await raw('PUT', `/${bucket}`, options)
      isError(t, refused, 'BucketAlreadyOwnedByYou', `${bucket}, other ${index}`)
      t.equal(firstElement(refused.text, 'BucketName'), bucket)
    }
    if (same !== elsewhere) isDone(t, await raw('PUT', `/${bucket}`, same), 200, `${bucket}, the same`)
    t.equal((await raw('GET', `/${bucket}/k`)).text, 'bytes', 'and what was in it is in it')
    t.equal((await raw('GET', `/${bucket}?object-lock`)).status, lockBefore)
    const location = await raw('GET', `/${bucket}?location`)
    t.equal(firstElement(location.text, 'LocationConstraint'), same === elsewhere ? 'eu-west-1' : '')
  }
})

test('a name used again is another bucket', async (t) => {
  for (const round of [1, 2]) {
    isDone(t, await raw('PUT', '/again-bucket'), 200, `create ${round}`)
    const listing = await raw('GET', '/again-bucket?list-type=2')
    t.equal(firstElement(listing.text, 'KeyCount'), '0')
    isDone(t, await raw('PUT', `/again-bucket/k${round}`, { body: 'x' }), 200, 'put')
    isDone(t, await raw('DELETE', `/again-bucket/k${round}`), 204, 'delete object')
    isDone(t, await raw('DELETE', '/again-bucket'), 204, 'delete bucket')
  }
})

test('the region is what the request said, and any is accepted', async (t) => {
  for (const [index, region] of ['eu-west-1', 'EU', 'moon', 'a/b<c>&'].entries()) {
    const bucket = `region-${index}`
    const text = region.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const body = configuration(`<LocationConstraint>${text}</LocationConstraint>`)
    isDone(t, await raw('PUT', `/${bucket}`, { body }), 200, `create in ${region}`)
    const location = await raw('GET', `/${bucket}/?location`)
    t.equal(firstElement(location.text, 'LocationConstraint'), region)
    t.equal((await raw('HEAD', `/${bucket}`)).headers['x-amz-bucket-region'], region)
  }
  await s3.send(
    new CreateBucketCommand({
      Bucket: 'region-sdk',
      CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' },
    }),
  )
  const location = await s3.send(new GetBucketLocationCommand({ Bucket: 'region-sdk' }))
  t.equal(location.LocationConstraint, 'eu-central-1')
  isDone(t, await raw('PUT', '/region-none', { body: configuration('') }), 200, 'an empty configuration')
  const none = await raw('GET', '/region-none?location')
  t.equal(none.text, `${XML_DECLARATION}\n<LocationConstraint xmlns="${NAMESPACE}"></LocationConstraint>`)
  isError(t, await raw('GET', '/no-such-bucket?location'), 'NoSuchBucket', 'location of nothing')
})

test('a body that is no configuration makes no bucket', async (t) => {
  const good = configuration('<LocationConstraint>eu-west-1</LocationConstraint>')
  const bodies: [body: string, code: 'MalformedXML' | 'NotImplemented' | 'InvalidLocationConstraint'][] = [
    ['hello', 'MalformedXML'],
    ['<Other/>', 'MalformedXML'],
    ['<CreateBucketConfiguration>', 'MalformedXML'],
    [`${good}${good}`, 'MalformedXML'],
    [configuration('<Unknown/>'), 'MalformedXML'],
    [
      configuration('<LocationConstraint>a</LocationConstraint><LocationConstraint>b</LocationConstraint>'),
      'MalformedXML',
    ],
    [`<!DOCTYPE x [<!ENTITY e "eu-west-1">]>${good.replace('eu-west-1', '&e;')}`, 'MalformedXML'],
    [`<?xml version="1.0"?>${configuration('<Bucket><Type>Directory</Type></Bucket>')}`, 'NotImplemented'],
    [configuration('<LocationConstraint>two words</LocationConstraint>'), 'InvalidLocationConstraint'],
  ]
  for (const [body, code] of bodies) isError(t, await raw('PUT', '/never-bucket', { body }), code, body)
  const large = configuration(' '.repeat(64 * 1024))
  isError(t, await raw('PUT', '/never-bucket', { body: large }), 'MaxMessageLengthExceeded', 'too large')
  const md5: HeaderLine[] = [['content-md5', hash('md5', 'another', 'base64')]]
  isError(t, await raw('PUT', '/never-bucket', { body: good, headers: md5 }), 'BadDigest', 'MD5')
  const claim = { payloadHash: hash('sha256', 'another', 'hex') }
  isError(t, await raw('PUT', '/never-bucket', { body: good, sign: claim }), 'XAmzContentSHA256Mismatch', 'SHA-256')
  isError(t, await raw('GET', '/never-bucket?location'), 'NoSuchBucket', 'and none was made')
})

test('what a bucket may be called', async (t) => {
  const wrong = ['ab', 'Upper', 'under_score', '-start', 'end-', 'two..dots', '192.168.5.4', 'xn--puny', 'a-s3alias']
  wrong.push('a'.repeat(64), 'sthree-a', 'amzn-s3-demo-a', 'b%20c', 'b%00c', 'b%C3%BCcket', 'a'.repeat(5000))
  for (const name of wrong) {
    isError(t, await raw('PUT', `/${name}`), 'InvalidBucketName', `create ${name.slice(0, 70)}`)
    isError(t, await raw('GET', `/${name}?list-type=2`), 'NoSuchBucket', `list ${name.slice(0, 70)}`)
    isError(t, await raw('GET', `/${name}/k`), 'NoSuchBucket', 'read in it')
    isError(t, await raw('PUT', `/${name}/k`, { body: 'x' }), 'NoSuchBucket', 'write in it')
    isError(t, await raw('DELETE', `/${name}/k`), 'NoSuchBucket', 'delete in it')
    isError(t, await raw('DELETE', `/${name}`), 'NoSuchBucket', 'delete it')
  }
  for (const name of ['abc', 'a.b-c.9', '0'.repeat(63), '1.2.3']) {
    isDone(t, await raw('PUT', `/${name}`), 200, `create ${name}`)
    isDone(t, await raw('DELETE', `/${name}`), 204, `delete ${name}`)
  }
})

test('no bucket comes to be by itself', async (t) => {
  isError(t, await raw('PUT', '/implicit-bucket/k', { body: 'x' }), 'NoSuchBucket', 'put')
  t.equal((await raw('HEAD', '/implicit-bucket')).status, 404)
  t.notOk(elements((await raw('GET', '/')).text, 'Name').includes('implicit-bucket'))
})

test('the bucket is looked for before the body and its headers are judged', async (t) => {
  const bad: HeaderLine[] = [['content-md5', 'nonsense']]
  isError(t, await raw('PUT', '/no-such-bucket/k', { body: 'x', headers: bad }), 'NoSuchBucket', 'put')
  const source: HeaderLine[] = [['x-amz-copy-source', 'nonsense']]
  isError(t, await raw('PUT', '/no-such-bucket/k', { headers: source }), 'NoSuchBucket', 'copy')
  isError(t, await raw('GET', '/no-such-bucket?list-type=2&max-keys=x'), 'NoSuchBucket', 'list')
  isError(t, await raw('DELETE', '/no-such-bucket/k?versionId=%20'), 'NoSuchBucket', 'delete')
})

test('the buckets are listed by name, in pages', async (t) => {
  const names = ['list-c', 'list-a', 'list-b.1', 'list-b', 'list-b-1']
  for (const name of names) await raw('PUT', `/${name}`)
  const whole = await raw('GET', '/?prefix=list-')
  t.same(elements(whole.text, 'Name'), names.toSorted())
  t.equal(firstElement(whole.text, 'Prefix'), 'list-')
  t.equal(firstElement(whole.text, 'ContinuationToken'), undefined)
  t.match(whole.text, `<ListAllMyBucketsResult xmlns="${NAMESPACE}"><Owner><ID>`)
  for (const date of elements(whole.text, 'CreationDate')) t.match(date, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const { Buckets = [], Owner } = await s3.send(new ListBucketsCommand({}))
  t.ok(Buckets.length > names.length)
  t.equal(Owner?.DisplayName, 'root')

  for (const size of [1, 2, 3, 5, 6, 20_000]) {
    const found: string[] = []
    let token: string | undefined
    do {
      const page = await s3.send(
        new ListBucketsCommand({ MaxBuckets: size, Prefix: 'list-', ...(token && { ContinuationToken: token }) }),
      )
      t.ok((page.Buckets?.length ?? 0) <= size)
      found.push(...(page.Buckets ?? []).map((bucket) => bucket.Name ?? ''))
      token = page.ContinuationToken
    } while (token !== undefined)
    t.same(found, names.toSorted(), `pages of ${size}`)
  }
  for (const query of ['max-buckets=0', 'max-buckets=-1', 'max-buckets=x', 'continuation-token=AAAA']) {
    isError(t, await raw('GET', `/?${query}`), 'InvalidArgument', query)
  }
  await s3.send(new DeleteBucketCommand({ Bucket: 'list-a' }))
  t.notOk(elements((await raw('GET', '/')).text, 'Name').includes('list-a'))
})

test('virtual-hosted addressing is refused by name', async (t) => {
  await raw('PUT', '/host-bucket')
  for (const host of ['host-bucket.s3.example.com', `host-bucket.localhost:${server.port}`]) {
    isError(t, await raw('GET', '/some/key', { sign: { host } }), 'NotImplemented', host)
    isError(t, await raw('PUT', '/some/key', { sign: { host }, body: 'x' }), 'NotImplemented', host)
    isError(t, await raw('GET', '/', { sign: { host } }), 'NotImplemented', host)
  }
  const other = { host: 's3.example.com' }
  isDone(t, await raw('GET', '/host-bucket?location', { sign: other }), 200, 'any other host is path style')
  const same = { host: 'host-bucket.example.com' }
  isDone(t, await raw('GET', '/host-bucket?location', { sign: same }), 200, 'and so is a path with a bucket in it')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
