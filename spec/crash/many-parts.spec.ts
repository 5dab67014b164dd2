/** The bounds of multipart uploads: 10,000 parts, 5 TiB. */
import { uploadIdOf } from '../../engine/brands.ts'
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { auditOf } from '../support/commands.ts'
import { numberOfUpload, writeLinkedParts } from '../support/linked-parts.ts'
import {
  abort,
  complete,
  completionOf,
  createUpload,
  etagOf,
  largePart,
  PART_BYTES,
  payloadFileNames,
  type SentPart,
  sendPart,
  settledFiles,
  uploadTarget,
} from '../support/multipart.ts'
import { startInThread, temporaryDirectory } from '../support/test-server.ts'
import { isDone, isError } from '../support/wire-assertions.ts'
import { elements, firstElement } from '../support/wire-client.ts'

const PARTS = 10_000
const bucket = 'many-bucket'
const dataDirectory = temporaryDirectory()
const paths = new StorePaths(dataDirectory)
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))

/** Bodies of parts, so that part n has those of `BODIES[(n - 1) % 2]`. */
const BODIES = [largePart(1), largePart(2, 1)]
const whole = (count: number) => Array.from({ length: count }, (_, index) => BODIES[index % 2] as Buffer)
const sizeOf = (count: number) => whole(count).reduce((bytes, body) => bytes + body.length, 0)

test('an object of 10,000 parts', async (t) => {
  const server = await startInThread({ dataDirectory })
  const { raw } = server
  const target = `/${bucket}/key`
  await raw('PUT', `/${bucket}`)
  const upload = await createUpload(server, target)
  const parts = await writeLinkedParts(server, bucket, 'key', BODIES, PARTS)
  t.equal(payloadFileNames(paths).length, PARTS)
  t.match(server.store.catalog.snapshot().uploadUsage(), { uploads: 1, parts: PARTS, bytes: sizeOf(PARTS) })

  const numbers: string[] = []
  for (let marker = '0'; marker !== 'none'; ) {
    const { text } = await raw('GET', `${uploadTarget(target, upload)}&part-number-marker=${marker}`)
    numbers.push(...elements(text, 'PartNumber'))
    marker = firstElement(text, 'NextPartNumberMarker') ?? 'none'
  }
  t.same(
    numbers,
    parts.map((part) => String(part.number)),
    'all are listed',
  )

  const last = parts.at(-1) as SentPart
  const stranger = [...parts.slice(0, -1), { ...last, etag: parts[0]?.etag ?? '' }]
  isError(t, await complete(server, target, upload, stranger), 'InvalidPart', 'the last of them is another')
  const tooMany = completionOf([...parts, { number: PARTS + 1, etag: last.etag }])
  isError(t, await raw('POST', uploadTarget(target, upload), { body: tooMany }), 'MalformedXML', '10,001 parts')
  const withSums = completionOf(parts).replaceAll(
    '</Part>',
    `<ChecksumSHA256>${'A'.repeat(43)}=</ChecksumSHA256></Part>`,
  )
  const started = performance.now()
  const done = await raw('POST', uploadTarget(target, upload), { body: withSums })
  t.comment(`completed in ${Math.round(performance.now() - started)} ms, ${withSums.length} bytes of XML`)
  isDone(t, done, 200, 'complete')
  t.equal(firstElement(done.text, 'ETag'), etagOf(whole(PARTS)))
  t.same(server.store.catalog.snapshot().uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })

  const head = await raw('HEAD', target)
  t.equal(head.headers['content-length'], String(sizeOf(PARTS)))
  t.equal((await raw('HEAD', `${target}?partNumber=10000`)).headers['x-amz-mp-parts-count'], '10000')
  for (const part of [1, 2, 5000, 9999]) {
    const border = sizeOf(part)
    const got = await raw('GET', target, { headers: [['range', `bytes=${border - 10}-${border + 9}`]] })
    const [left = Buffer.alloc(0), right = Buffer.alloc(0)] = [BODIES[(part - 1) % 2], BODIES[part % 2]]
    t.ok(got.body.equals(Buffer.concat([left.subarray(-10), right.subarray(0, 10)])), `the end of part ${part}`)
  }
  const end = await raw('GET', target, { headers: [['range', 'bytes=-1']] })
  t.ok(end.body.equals((BODIES[1] as Buffer).subarray(-1)))
  isDone(t, await raw('POST', uploadTarget(target, upload), { body: withSums }), 200, 'again')
  t.same(server.failures, [])
  await server.stop()
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] })
})

test('10,000 parts are all given back', async (t) => {
  const server = await startInThread({ dataDirectory })
  isDone(t, await server.raw('DELETE', `/${bucket}/key`), 204, 'delete')
  t.same(await settledFiles(server), [])
  const upload = await createUpload(server, `/${bucket}/aborted`)
  const parts = await writeLinkedParts(server, bucket, 'aborted', BODIES, PARTS)
  isDone(t, await abort(server, `/${bucket}/aborted`, upload), 204, 'abort')
  t.same(await settledFiles(server), [])
  isError(t, await complete(server, `/${bucket}/aborted`, upload, parts), 'NoSuchUpload', 'it is gone')
  const dropped = await createUpload(server, `/${bucket}/dropped`)
  await writeLinkedParts(server, bucket, 'dropped', BODIES, PARTS - 1)
  const last = await sendPart(server, `/${bucket}/dropped`, dropped, PARTS, 'the only one')
  isDone(t, await complete(server, `/${bucket}/dropped`, dropped, [last]), 200, 'complete with one of them')
  t.same(await settledFiles(server), [])
  t.equal((await server.raw('GET', `/${bucket}/dropped`)).text, 'the only one')
  t.same(server.failures, [])
  await server.stop()
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] })
})

test('an object of 5 TiB, and one of a byte more', async (t) => {
  const server = await startInThread({ dataDirectory })
  const { raw, store } = server
  const target = `/${bucket}/giant`
  const upload = await createUpload(server, target)
  const etag = '0'.repeat(32)
  const PART = 5 * 1024 ** 3
  /** No part of this size was ever sent: what is at stake is the counting, and nothing of it is read. */
  const write = (part: number, size: number) => {
    const audit = auditOf('s3:PUT', `bucket:${bucket}/giant`)
    const name = `${store.start}ff${part.toString(16).padStart(10, '0')}`
    const body = { kind: 'file', name, sealed: false } as const
    const place = { bucket, key: 'giant', upload: uploadIdOf(numberOfUpload(store, bucket, 'giant')), part }
    return store.client.execute({ kind: 'write-part', audit, ...place, size, etag, digest: Buffer.alloc(32), body })
  }
  const numbers = Array.from({ length: 1024 }, (_, index) => index + 1)
  await Promise.all(numbers.map((part) => write(part, PART)))
  const parts = numbers.map((number) => ({ number, etag }))
  const small = await sendPart(server, target, upload, 1025, '!')
  const tooLarge = await complete(server, target, upload, [...parts, small])
  isError(t, tooLarge, 'EntityTooLarge', '5 TiB and a byte')
  t.equal(firstElement(tooLarge.text, 'ProposedSize'), String(5 * 1024 ** 4 + 1))
  isDone(t, await complete(server, target, upload, parts), 200, '5 TiB')
  const head = await raw('HEAD', target)
  t.equal(head.headers['content-length'], String(5 * 1024 ** 4))
  t.equal(firstElement((await raw('GET', `/${bucket}?list-type=2&prefix=giant`)).text, 'Size'), String(5 * 1024 ** 4))
  const part = await raw('HEAD', `${target}?partNumber=1024`)
  t.equal(part.headers['content-range'], `bytes ${1023 * PART}-${1024 * PART - 1}/${1024 * PART}`)
  const copied = await raw('PUT', `/${bucket}/copy`, { headers: [['x-amz-copy-source', target]] })
  isError(t, copied, 'InvalidRequest', 'a copy of more than 5 GiB')
  isDone(t, await raw('DELETE', target), 204, 'delete')
  t.equal((await store.catalog.snapshot().totals()).physicalBytes < PART_BYTES, true)
  t.same(server.failures, [])
  await server.stop()
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] })
})
