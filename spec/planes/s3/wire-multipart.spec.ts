/** Multipart uploads from their creation to their completion or their end. */
import tap, { test } from 'tap'
import {
  abort,
  complete,
  createUpload,
  etagOf,
  largePart,
  PART_BYTES,
  partTarget,
  type SentPart,
  sendPart,
  settledFiles,
  uploadTarget,
  uploadWhole,
} from '../../support/multipart.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server
const bucket = '/multipart-bucket'

await raw('PUT', bucket)

const usage = () => server.store.catalog.uploadUsage()

/** Numbers of the parts that an upload has. */
async function partsOf(target: string, upload: string): Promise<string[]> {
  return elements((await raw('GET', uploadTarget(target, upload))).text, 'PartNumber')
}

test('the answers of an upload from its creation to its completion', async (t) => {
  const target = `${bucket}/whole/a%20b%2B%C3%BC%26`
  const created = await raw('POST', `${target}?uploads`)
  isDone(t, created, 200, 'create')
  t.equal(created.headers['content-type'], 'application/xml')
  t.match(created.text, '<InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">')
  t.equal(firstElement(created.text, 'Bucket'), 'multipart-bucket')
  t.equal(firstElement(created.text, 'Key'), 'whole/a b+ü&')
  const upload = firstElement(created.text, 'UploadId') ?? ''
  isError(t, await raw('GET', target), 'NoSuchKey', 'nothing is seen of it')
  isError(t, await raw('GET', `${target}?uploadId=`), 'NoSuchUpload', 'an empty id')

  const bodies = [largePart(1, 1), largePart(2), Buffer.from('the end')]
  const parts: SentPart[] = []
  for (const [index, body] of bodies.entries()) parts.push(await sendPart(server, target, upload, index + 1, body))
  isError(t, await raw('GET', target), 'NoSuchKey', 'nor with its parts')
  const listed = await raw('GET', uploadTarget(target, upload))
  isDone(t, listed, 200, 'list')
  t.same(
    elements(listed.text, 'Size').map(Number),
    bodies.map((body) => body.length),
  )
  t.same(
    elements(listed.text, 'ETag'),
    parts.map((part) => part.etag),
  )
  t.equal((await raw('GET', `${bucket}?list-type=2`)).text.includes('<Contents>'), false)
  t.same(usage(), { uploads: 1, parts: 3, bytes: 2 * PART_BYTES + 8 })

  const done = await complete(server, target, upload, parts)
  isDone(t, done, 200, 'complete')
  t.equal(firstElement(done.text, 'Location'), `${server.endpoint}${bucket}/whole/a%20b%2B%C3%BC%26`)
  t.equal(firstElement(done.text, 'Bucket'), 'multipart-bucket')
  t.equal(firstElement(done.text, 'Key'), 'whole/a b+ü&')
  t.equal(firstElement(done.text, 'ETag'), etagOf(bodies))
  t.equal(done.headers['x-amz-version-id'], undefined)
  const got = await raw('GET', target)
  t.equal(got.headers.etag, etagOf(bodies))
  t.equal(got.headers['content-length'], String(2 * PART_BYTES + 8))
  t.ok(got.body.equals(Buffer.concat(bodies)))
  t.equal(firstElement((await raw('GET', `${bucket}?list-type=2`)).text, 'ETag'), etagOf(bodies))
  t.same(usage(), { uploads: 0, parts: 0, bytes: 0 })
  for (const [method, what] of [
    ['GET', 'list'],
    ['DELETE', 'abort'],
  ] as const) {
    isError(t, await raw(method, uploadTarget(target, upload)), 'NoSuchUpload', `${what} when it is complete`)
  }
  isError(t, await raw('PUT', partTarget(target, upload, 4), { body: 'x' }), 'NoSuchUpload', 'a part too late')
})

test('numbers of parts', async (t) => {
  const target = `${bucket}/numbers`
  const upload = await createUpload(server, target)
  for (const number of ['0', '10001', '-1', '1.0', '1e3', '', 'x', '%00', '+1', ' 1', '99999999999999999999', '0x1']) {
    const answer = await raw('PUT', partTarget(target, upload, encodeURIComponent(decodeURIComponent(number))), {
      body: 'x',
    })
    isError(t, answer, 'InvalidArgument', `part ${number}`)
  }
  isError(t, await raw('PUT', uploadTarget(target, upload), { body: 'x' }), 'InvalidArgument', 'no number')
  isError(t, await raw('PUT', `${target}?partNumber=1`, { body: 'x' }), 'InvalidArgument', 'no upload')
  t.same(await partsOf(target, upload), [])
  const last = await sendPart(server, target, upload, 10_000, 'last')
  isDone(t, await raw('PUT', partTarget(target, upload, '0007'), { body: largePart(7) }), 200, 'with zeros before it')
  const first = await sendPart(server, target, upload, 1, largePart(1))
  t.same(await partsOf(target, upload), ['1', '7', '10000'])
  isDone(t, await complete(server, target, upload, [first, last]), 200, 'the first and the last')
  t.ok((await raw('GET', target)).body.equals(Buffer.concat([largePart(1), Buffer.from('last')])))
})

test('parts in any order and at once', async (t) => {
  const target = `${bucket}/parallel`
  const upload = await createUpload(server, target)
  const bodies = Array.from({ length: 6 }, (_, index) => (index === 5 ? Buffer.from('end') : largePart(index, index)))
  const numbers = [4, 6, 1, 3, 5, 2]
  const sent = await Promise.all(
    numbers.map((number) => sendPart(server, target, upload, number, bodies[number - 1] ?? '')),
  )
  const parts = sent.toSorted((left, right) => left.number - right.number)
  const done = await complete(server, target, upload, parts)
  t.equal(firstElement(done.text, 'ETag'), etagOf(bodies))
  t.ok((await raw('GET', target)).body.equals(Buffer.concat(bodies)))
})

test('a part sent again takes the place of the first, whose bytes are given back', async (t) => {
  const target = `${bucket}/replaced`
  const { length: before } = await settledFiles(server)
  const upload = await createUpload(server, target)
  const stale = await sendPart(server, target, upload, 1, largePart(1))
  const fresh = await sendPart(server, target, upload, 1, largePart(2))
  t.equal((await settledFiles(server)).length, before + 1, 'one file is left')
  t.same(usage(), { uploads: 1, parts: 1, bytes: PART_BYTES })
  isError(t, await complete(server, target, upload, [stale]), 'InvalidPart', 'the ETag of the first')
  const small = await sendPart(server, target, upload, 1, 'small now')
  t.equal((await settledFiles(server)).length, before, 'no file is left')
  isError(t, await complete(server, target, upload, [fresh]), 'InvalidPart', 'the ETag of the second')
  const many = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      sendPart(server, target, upload, 1, index % 2 === 0 ? largePart(index) : 'small'),
    ),
  )
  const listed = await raw('GET', uploadTarget(target, upload))
  const [etag = ''] = elements(listed.text, 'ETag')
  t.ok(
    many.some((part) => part.etag === etag),
    'of many at once one is left',
  )
  const left = before + (etag === small.etag || many[1]?.etag === etag ? 0 : 1)
  t.equal((await settledFiles(server)).length, left)
  isDone(t, await complete(server, target, upload, [{ number: 1, etag }]), 200, 'complete')
  isDone(t, await raw('DELETE', target), 204, 'delete')
  t.equal((await settledFiles(server)).length, before)
})

test('parts that are not listed are dropped, and their bytes given back', async (t) => {
  const target = `${bucket}/dropped`
  const { length: before } = await settledFiles(server)
  const upload = await createUpload(server, target)
  const parts = []
  for (const number of [1, 2, 3, 9, 5000]) parts.push(await sendPart(server, target, upload, number, largePart(number)))
  await sendPart(server, target, upload, 4, 'small and unlisted')
  isDone(t, await complete(server, target, upload, [parts[1], parts[3]] as SentPart[]), 200, 'two of six')
  t.equal((await settledFiles(server)).length, before + 2)
  t.ok((await raw('GET', target)).body.equals(Buffer.concat([largePart(2), largePart(9)])))
  t.same(usage(), { uploads: 0, parts: 0, bytes: 0 })
  isDone(t, await raw('DELETE', target), 204, 'delete')
  t.equal((await settledFiles(server)).length, before)
})

test('an object of one part', async (t) => {
  for (const body of ['', 'small', largePart(3), sampleBytes(65_536), sampleBytes(65_537)]) {
    const target = `${bucket}/single/${body.length}`
    const done = await uploadWhole(server, target, [body])
    t.equal(firstElement(done.text, 'ETag'), etagOf([body]), `${body.length} bytes: one part has -1`)
    t.match(etagOf([body]), /-1"$/)
    const got = await raw('GET', target)
    isDone(t, got, 200, 'get')
    t.ok(got.body.equals(Buffer.from(body)))
    t.equal(got.headers.etag, etagOf([body]))
    isDone(t, await raw('DELETE', target), 204, 'delete')
  }
})

test('an upload that is given up', async (t) => {
  const target = `${bucket}/given-up`
  const { length: before } = await settledFiles(server)
  const upload = await createUpload(server, target)
  const empty = await createUpload(server, target)
  const part = await sendPart(server, target, upload, 1, largePart(1))
  await sendPart(server, target, upload, 3, largePart(3))
  await sendPart(server, target, upload, 2, 'small')
  await sendPart(server, target, upload, 4, '')
  const ended = await abort(server, target, upload)
  isDone(t, ended, 204, 'abort')
  t.equal(ended.body.length, 0)
  t.equal((await settledFiles(server)).length, before, 'its bytes are given back')
  isError(t, await abort(server, target, upload), 'NoSuchUpload', 'abort again')
  isError(t, await raw('GET', uploadTarget(target, upload)), 'NoSuchUpload', 'list')
  isError(t, await complete(server, target, upload, [part]), 'NoSuchUpload', 'complete')
  isError(t, await raw('PUT', partTarget(target, upload, 1), { body: largePart(9) }), 'NoSuchUpload', 'a part')
  isDone(t, await abort(server, target, empty), 204, 'one without parts')
  t.equal((await settledFiles(server)).length, before)
  t.same(usage(), { uploads: 0, parts: 0, bytes: 0 })
})

test('ids that no upload has', async (t) => {
  const target = `${bucket}/ids`
  await raw('PUT', '/multipart-other')
  const upload = await createUpload(server, target)
  const elsewhere = await createUpload(server, `${bucket}/ids-2`)
  const otherBucket = await createUpload(server, '/multipart-other/ids')
  const part = await sendPart(server, target, upload, 1, 'x')
  await uploadWhole(server, `${bucket}/ids-whole`, ['x'])
  const changed = upload.startsWith('A') ? `B${upload.slice(1)}` : `A${upload.slice(1)}`
  const ids = [
    '',
    ' ',
    '0',
    '1',
    '-1',
    'null',
    '\u0000',
    '..',
    '../../etc',
    '😀',
    '"<&>',
    'x'.repeat(22),
    'x'.repeat(4000),
    upload.slice(0, -1),
    `${upload}A`,
    `${upload}=`,
    changed,
    elsewhere,
    otherBucket,
  ]
  for (const id of ids) {
    const what = `${JSON.stringify(id).slice(0, 30)}, ${id.length}`
    isError(t, await raw('GET', uploadTarget(target, id)), 'NoSuchUpload', `list ${what}`)
    isError(t, await raw('PUT', partTarget(target, id, 1), { body: 'x' }), 'NoSuchUpload', `part ${what}`)
    isError(t, await complete(server, target, id, [part]), 'NoSuchUpload', `complete ${what}`)
    isError(t, await raw('DELETE', uploadTarget(target, id)), 'NoSuchUpload', `abort ${what}`)
  }
  isError(t, await raw('PUT', partTarget(target, 'x', 1), { body: largePart(1) }), 'NoSuchUpload', 'a large part')
  const gone = uploadTarget('/multipart-none/ids', upload)
  isError(t, await raw('GET', gone), 'NoSuchBucket', 'list in no bucket')
  isError(t, await raw('POST', '/multipart-none/ids?uploads'), 'NoSuchBucket', 'create in no bucket')
  t.same(await partsOf(target, upload), ['1'])
  for (const [key, id] of [
    ['ids', upload],
    ['ids-2', elsewhere],
  ] as const)
    await abort(server, `${bucket}/${key}`, id)
  await abort(server, '/multipart-other/ids', otherBucket)
})

test('a bucket is deleted with what is unfinished in it', async (t) => {
  const target = '/multipart-doomed/key'
  isDone(t, await raw('PUT', '/multipart-doomed'), 200, 'create')
  const upload = await createUpload(server, target)
  const part = await sendPart(server, target, upload, 1, 'part')
  isDone(t, await raw('DELETE', '/multipart-doomed'), 204, 'delete')
  isError(t, await raw('PUT', partTarget(target, upload, 2), { body: 'x' }), 'NoSuchBucket', 'a part')
  isDone(t, await raw('PUT', '/multipart-doomed'), 200, 'another bucket of that name')
  isError(t, await raw('PUT', partTarget(target, upload, 2), { body: 'x' }), 'NoSuchUpload', 'a part')
  isError(t, await complete(server, target, upload, [part]), 'NoSuchUpload', 'complete')
  isError(t, await abort(server, target, upload), 'NoSuchUpload', 'abort')
  t.equal(blocks((await raw('GET', '/multipart-doomed?uploads')).text, 'Upload').length, 0)
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
