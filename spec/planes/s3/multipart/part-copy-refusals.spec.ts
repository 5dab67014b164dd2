/** What UploadPartCopy refuses, and what is recorded of it. */
import { readdirSync } from 'node:fs'
import tap, { test } from 'tap'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { abort, createUpload, partTarget, settledFiles, uploadTarget } from '../../../support/multipart.ts'
import { copyOf, range } from '../../../support/part-copies.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { elements } from '../../../support/wire-client.ts'
import { put, remove } from '../../../support/wire-versions.ts'

const server = await startInThread({ extensions: ['upload-part-copy'] })
tap.teardown(() => server.stop())
const { raw } = server

const bucket = '/parts-bucket'
await raw('PUT', bucket)
await raw('PUT', '/another-bucket')

const SMALL = Buffer.from('a few bytes that are in a volume')
const LARGE = sampleBytes(300_000)
await put(server, 'parts-bucket/small', SMALL)
await put(server, 'parts-bucket/empty', '')

test('what cannot be copied is refused by its name', async (t) => {
  const target = `${bucket}/refused`
  const upload = await createUpload(server, target)
  const size = SMALL.length
  const ranges = [
    '',
    '0-2',
    'bytes=0',
    'bytes=0-',
    'bytes=-5',
    'bytes=0-1,3-4',
    'bytes=a-b',
    'bytes= 0-1',
    'bytes=0-1 ',
    'items=0-1',
    'bytes=5-4',
    `bytes=0-${size}`,
    `bytes=${size}-${size}`,
    'bytes=0-99999999999999999999999',
    'bytes=9007199254740993-9007199254740994',
    'bytes=-1--2',
    'bytes=0x0-0x1',
    'Bytes=0-1',
  ]
  for (const text of ranges) {
    const query = new URLSearchParams({ 'x-amz-copy-source-range': text })
    // In the query, where a value keeps its blanks' encoding; a header would lose those at its ends.
    const answer = await raw('PUT', `${partTarget(target, upload, 1)}&${query.toString().replaceAll('+', '%20')}`, {
      headers: [['x-amz-copy-source', 'parts-bucket/small']],
    })
    const isTrimmed = text === 'bytes=0-1 '
    if (isTrimmed) isDone(t, answer, 200, 'blanks at the end are none')
    else isError(t, answer, 'InvalidArgument', JSON.stringify(text))
  }
  const source = 'parts-bucket/small'
  const copy = (number: number | string, from: string, ...more: HeaderLine[]) =>
    copyOf(server, target, upload, number, from, more)
  for (const number of [0, 10_001, '', '1.5', '-1', 'x']) {
    isError(t, await copy(number, source), 'InvalidArgument', `part ${number}`)
  }
  isError(t, await copy(1, 'parts-bucket/nothing'), 'NoSuchKey', 'no key')
  isError(t, await copy(1, 'no-such-bucket/key'), 'NoSuchBucket', 'no bucket')
  isError(t, await copy(1, 'parts-bucket'), 'InvalidArgument', 'no key named')
  isError(t, await copy(1, '%zz/a'), 'InvalidArgument', 'not an address')
  isError(t, await copy(1, 'parts-bucket/empty', range(0, 0)), 'InvalidArgument', 'a range of nothing')
  const others = ['nonsense', '']
  for (const id of others) isError(t, await copyOf(server, target, id, 1, source), 'NoSuchUpload', `upload ${id}`)
  isError(t, await copyOf(server, `${bucket}/another`, upload, 1, source), 'NoSuchUpload', 'of another key')
  isError(t, await copyOf(server, '/another-bucket/refused', upload, 1, source), 'NoSuchUpload', 'of another bucket')
  const both = await raw('PUT', partTarget(target, upload, 1), {
    headers: [['x-amz-copy-source', source]],
    body: 'bytes',
  })
  t.ok(both.status === 400 || both.status === 200, 'a body beside a source is not read')
  const copyObject = await raw('PUT', `${bucket}/object`, { headers: [['x-amz-copy-source', source], range(0, 1)] })
  isError(t, copyObject, 'NotImplemented', 'a range of CopyObject')
  const listed = await raw('GET', uploadTarget(target, upload))
  t.ok(elements(listed.text, 'PartNumber').length <= 1)
  await abort(server, target, upload)
})

test('a part has two records, which name the source', async (t) => {
  const target = `${bucket}/recorded`
  const upload = await createUpload(server, target)
  for (const more of [[], [range(1, 5)]]) {
    const answer = await copyOf(server, target, upload, 3, 'parts-bucket/small', more)
    const id = answer.headers['x-amz-request-id']
    const records = (await server.journal()).filter((entry) => entry.requestId === id)
    t.same(
      records.map(({ result, changes }) => [result, ...changes.map(({ name }) => name)]),
      [['attempted'], ['success', 'upload.part-written']],
    )
    for (const { details } of records) {
      const facts = { api: 'UploadPartCopy', source: 'parts-bucket/small' }
      t.match(Object.fromEntries(details), more.length === 0 ? facts : { ...facts, source_range: 'bytes=1-5' })
    }
  }
  const refused = await copyOf(server, target, upload, 3, 'parts-bucket/nothing')
  const records = (await server.journal()).filter(({ requestId }) => requestId === refused.headers['x-amz-request-id'])
  t.same(
    records.map(({ result }) => result),
    ['attempted', 'failure'],
  )
  await abort(server, target, upload)
})

test('a damaged source makes no part', async (t) => {
  const target = `${bucket}/damaged`
  const before = new Set(await settledFiles(server))
  await put(server, 'parts-bucket/damaged', LARGE)
  const [name = ''] = (await settledFiles(server)).filter((each) => !before.has(each))
  const file = nodeDisk.openToWrite(server.paths.file(name))
  file.writeAt(Buffer.from('damage'), 100_000)
  file.close()
  const upload = await createUpload(server, target)
  isError(
    t,
    await copyOf(server, target, upload, 1, 'parts-bucket/damaged', [range(1, 250_000)]),
    'ObjectDamaged',
    'damage',
  )
  t.equal(server.failures.splice(0).length, 1, 'which is in the log')
  t.same(elements((await raw('GET', uploadTarget(target, upload))).text, 'PartNumber'), [])
  t.same(readdirSync(server.paths.uploads), [])
  await abort(server, target, upload)
  await remove(server, 'parts-bucket/damaged')
})
