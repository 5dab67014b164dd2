/** What ends a multipart upload: completions that are refused, repeated, and in each other's way. */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import {
  abort,
  complete,
  completionOf,
  createUpload,
  etagOf,
  largePart,
  partTarget,
  type SentPart,
  sendPart,
  settledFiles,
  uploadTarget,
} from '../../support/multipart.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { elements, firstElement, type WireAnswer } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server
const bucket = '/completion-bucket'

await raw('PUT', bucket)

const usage = () => server.store.catalog.uploadUsage()

/** Numbers of the parts that an upload has. */
async function partsOf(target: string, upload: string): Promise<string[]> {
  return elements((await raw('GET', uploadTarget(target, upload))).text, 'PartNumber')
}

interface Refusal {
  readonly what: string
  readonly body: string
  readonly code: S3ErrorCode
  readonly details?: Readonly<Record<string, string>>
}

function bareEtag(part: SentPart): string {
  return part.etag.replaceAll('"', '')
}

test('a completion that is refused leaves the upload as it was', async (t) => {
  const target = `${bucket}/refused`
  const upload = await createUpload(server, target)
  const first = await sendPart(server, target, upload, 1, largePart(1))
  const small = await sendPart(server, target, upload, 2, 'too small')
  const third = await sendPart(server, target, upload, 3, largePart(3))
  const fourth = await sendPart(server, target, upload, 4, '')
  const tooSmall = { MinSizeAllowed: '5242880', ProposedSize: '9', PartNumber: '2', ETag: bareEtag(small) }
  const refusals: Refusal[] = [
    { what: 'nothing', body: '', code: 'MalformedXML' },
    { what: 'no part', body: completionOf([]), code: 'MalformedXML' },
    { what: 'no XML', body: 'x', code: 'MalformedXML' },
    { what: 'cut off', body: completionOf([first]).slice(0, -3), code: 'MalformedXML' },
    { what: 'another document', body: '<Delete><Object><Key>a</Key></Object></Delete>', code: 'MalformedXML' },
    { what: 'a part without ETag', body: completionOf([first]).replace(/<ETag>.*<\/ETag>/, ''), code: 'MalformedXML' },
    { what: 'no number', body: completionOf([first]).replace('>1<', '>one<'), code: 'MalformedXML' },
    { what: 'number 0', body: completionOf([{ ...first, number: 0 }]), code: 'InvalidArgument' },
    { what: 'number 10,001', body: completionOf([{ ...first, number: 10_001 }]), code: 'InvalidArgument' },
    { what: 'descending', body: completionOf([third, first]), code: 'InvalidPartOrder' },
    { what: 'twice', body: completionOf([first, first]), code: 'InvalidPartOrder' },
    {
      what: 'an unknown number',
      body: completionOf([first, { number: 9, etag: first.etag }]),
      code: 'InvalidPart',
      details: { PartNumber: '9' },
    },
    {
      what: 'a number before all',
      body: completionOf([
        { ...first, number: 1 },
        { number: 2, etag: first.etag },
      ]),
      code: 'InvalidPart',
      details: { PartNumber: '2' },
    },
    {
      what: 'an ETag of another part',
      body: completionOf([{ number: 1, etag: third.etag }]),
      code: 'InvalidPart',
      details: { PartNumber: '1' },
    },
    {
      what: 'an ETag of nothing',
      body: completionOf([{ number: 1, etag: '"x"' }]),
      code: 'InvalidPart',
      details: { PartNumber: '1' },
    },
    { what: 'the ETag of an object', body: completionOf([{ number: 1, etag: etagOf(['x']) }]), code: 'InvalidPart' },
    {
      what: 'a small part in the middle',
      body: completionOf([first, small, third]),
      code: 'EntityTooSmall',
      details: tooSmall,
    },
    { what: 'a small part first', body: completionOf([small, third]), code: 'EntityTooSmall', details: tooSmall },
    {
      what: 'an empty part before the last',
      body: completionOf([first, fourth]).replace(
        '</CompleteM',
        '<Part><PartNumber>5</PartNumber><ETag>x</ETag></Part></CompleteM',
      ),
      code: 'InvalidPart',
    },
    {
      what: 'a wrong part is told before a small one',
      body: completionOf([small, { ...third, etag: first.etag }]),
      code: 'InvalidPart',
    },
  ]
  for (const { what, body, code, details = {} } of refusals) {
    const answer = await raw('POST', uploadTarget(target, upload), { body })
    isError(t, answer, code, what)
    for (const [name, text] of Object.entries(details))
      t.equal(firstElement(answer.text, name), text, `${what}: ${name}`)
    isError(t, await raw('HEAD', target).then(() => raw('GET', target)), 'NoSuchKey', `${what}: no object`)
  }
  const md5: HeaderLine[] = [['content-md5', 'AAAAAAAAAAAAAAAAAAAAAA==']]
  isError(t, await complete(server, target, upload, [first], md5), 'BadDigest', 'a Content-MD5 of something else')
  t.same(await partsOf(target, upload), ['1', '2', '3', '4'])
  isDone(t, await complete(server, target, upload, [first, third, fourth]), 200, 'and in the end')
  t.ok((await raw('GET', target)).body.equals(Buffer.concat([largePart(1), largePart(3)])))
  t.equal((await raw('HEAD', target)).headers.etag, etagOf([largePart(1), largePart(3), '']))
})

test('a completion that is asked for again', async (t) => {
  const target = `${bucket}/again`
  const upload = await createUpload(server, target)
  const first = await sendPart(server, target, upload, 1, largePart(1))
  const second = await sendPart(server, target, upload, 2, 'second')
  const done = await complete(server, target, upload, [first, second])
  isDone(t, done, 200, 'complete')
  for (const round of [1, 2]) {
    const again = await complete(server, target, upload, [first, second])
    isDone(t, again, 200, `again, ${round}`)
    t.equal(again.text, done.text)
  }
  isError(t, await complete(server, target, upload, [first]), 'NoSuchUpload', 'with another list')
  isError(t, await raw('POST', uploadTarget(target, upload), { body: '<x/>' }), 'MalformedXML', 'with no list')
  isError(t, await complete(server, `${bucket}/other`, upload, [first, second]), 'NoSuchUpload', 'of another key')
  const copied: HeaderLine[] = [['x-amz-copy-source', `${bucket.slice(1)}/again`]]
  isDone(t, await raw('PUT', `${bucket}/again-copy`, { headers: copied }), 200, 'copy')
  isDone(t, await raw('DELETE', target), 204, 'delete')
  isError(t, await complete(server, target, upload, [first, second]), 'NoSuchUpload', 'after the object is gone')
  const copy = `${bucket}/again-copy`
  isError(t, await complete(server, copy, upload, [first, second]), 'NoSuchUpload', 'a copy does not count')
  t.ok((await raw('GET', copy)).body.equals(Buffer.concat([largePart(1), Buffer.from('second')])), 'and is whole')
  isDone(t, await raw('PUT', target, { body: 'another' }), 200, 'another object of the key')
  isError(t, await complete(server, target, upload, [first, second]), 'NoSuchUpload', 'after it was replaced')
  isDone(t, await raw('DELETE', copy), 204, 'delete')
})

test('completions at once', async (t) => {
  const target = `${bucket}/at-once`
  const upload = await createUpload(server, target)
  const part = await sendPart(server, target, upload, 1, 'only')
  const other = await sendPart(server, target, upload, 2, 'other')
  const lists = [[part], [other], [part], [other], [part], [part]]
  const answers = await Promise.all(lists.map((list) => complete(server, target, upload, list)))
  const won = answers.filter((answer) => answer.status === 200)
  const lost = answers.filter((answer) => answer.code === 'NoSuchUpload')
  t.equal(won.length + lost.length, answers.length)
  t.ok(won.length === 4 || won.length === 2, 'the one list or the other')
  t.equal(new Set(won.map((answer) => answer.text)).size, 1, 'and all who asked for it are told the same')
  t.equal((await raw('GET', target)).headers.etag, firstElement(won[0]?.text ?? '', 'ETag'))
  t.same(usage(), { uploads: 0, parts: 0, bytes: 0 })
})

test('the end of an upload, by races of all that end it', async (t) => {
  const { length: before } = await settledFiles(server)
  let completed = 0
  for (let round = 0; round < 8; round += 1) {
    const target = `${bucket}/race-${round}`
    const upload = await createUpload(server, target)
    const part = await sendPart(server, target, upload, 1, largePart(round))
    const acts: (() => Promise<WireAnswer>)[] = [
      () => complete(server, target, upload, [part]),
      () => abort(server, target, upload),
      () => raw('PUT', partTarget(target, upload, 1), { body: largePart(100 + round) }),
      () => raw('PUT', partTarget(target, upload, 2), { body: 'second' }),
    ]
    const order = acts.map((_, index) => acts[(index + round) % acts.length] as () => Promise<WireAnswer>)
    const answers = await Promise.all(order.map((act) => act()))
    t.same(
      answers.filter(({ status }) => ![200, 204, 400, 404].includes(status)),
      [],
    )
    const object = await raw('GET', target)
    const answered = answers[(acts.length - (round % acts.length)) % acts.length]
    if (object.status === 200) completed += 1
    t.equal(object.status === 200, answered?.status === 200, 'an object is there when its completion was answered so')
    if (object.status === 200) t.ok(object.body.equals(largePart(round)))
    else isError(t, object, 'NoSuchKey', 'no object')
  }
  t.same(usage(), { uploads: 0, parts: 0, bytes: 0 })
  t.equal((await settledFiles(server)).length, before + completed)
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
