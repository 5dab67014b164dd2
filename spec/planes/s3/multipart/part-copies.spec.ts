/** UploadPartCopy: parts that are made of bytes the store has already. */
import { hash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { shareTable } from '../../../../engine/shares/share-table.ts'
import { copyTurns } from '../../../../planes/objects/copy-turns.ts'
import {
  abort,
  complete,
  createUpload,
  etagOfParts,
  largePart,
  PART_BYTES,
  partTarget,
  payloadFileNames,
  type SentPart,
  settledFiles,
  uploadTarget,
  uploadWhole,
} from '../../../support/multipart.ts'
import { copyOf, partOf, range } from '../../../support/part-copies.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { type InThreadServer, startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { elements, firstElement } from '../../../support/wire-client.ts'
import { put, remove, setVersioning } from '../../../support/wire-versions.ts'
import { checkProjections } from '../../../../projections/replay/check.ts'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import { openRaw } from '../../../support/raw/raw-client.ts'

const dataDirectory = temporaryDirectory()
const server = await startInThread({ dataDirectory, extensions: ['upload-part-copy'] })
tap.teardown(() => rmSync(dataDirectory, { recursive: true }))
const { raw } = server

const bucket = '/parts-bucket'
await raw('PUT', bucket)

const SMALL = Buffer.from('a few bytes that are in a volume')
const LARGE = sampleBytes(300_000)
/** Of a source of parts, none of whose borders is that of a range below. */
const PIECES = [largePart(1), largePart(2, 7), Buffer.from('the end')]
const WHOLE = Buffer.concat(PIECES)
await put(server, 'parts-bucket/small', SMALL)
await put(server, 'parts-bucket/large', LARGE)
await put(server, 'parts-bucket/empty', '')
await uploadWhole(server, `${bucket}/whole`, PIECES)

async function copied(
  t: Test,
  at: InThreadServer,
  [target, upload]: readonly [string, string],
  number: number,
  [source, ...more]: readonly [string, ...HeaderLine[]],
  bytes: Buffer,
): Promise<SentPart> {
  const answer = await copyOf(at, target, upload, number, source, more)
  isDone(t, answer, 200, `${source} ${more.join()}`)
  t.match(answer.text, /<CopyPartResult [^]*<LastModified>20\d\d-[^<]*Z<\/LastModified>/)
  const part = partOf(number, answer.text)
  t.equal(part.etag, `"${hash('md5', bytes, 'hex')}"`, `${source}: the ETag is that of the bytes`)
  return part
}

/** Copies by reference and by reading, of small and large payloads, ranges over the borders of parts, and nothing. */
const COPIES: readonly (readonly [source: string, more: readonly HeaderLine[], bytes: Buffer])[] = [
  ['/parts-bucket/whole', [range(3, WHOLE.length - 4)], WHOLE.subarray(3, -3)],
  ['parts-bucket/whole', [], WHOLE],
  ['parts-bucket/whole', [range(PART_BYTES - 5, 2 * PART_BYTES)], WHOLE.subarray(PART_BYTES - 5, 2 * PART_BYTES + 1)],
  ['parts-bucket/large', [], LARGE],
  ['parts-bucket/large', [range(0, LARGE.length - 1)], LARGE],
  ['parts-bucket/large', [range(65_535, 65_536)], LARGE.subarray(65_535, 65_537)],
  ['parts-bucket/large', [range(1, 200_000)], LARGE.subarray(1, 200_001)],
  ['parts-bucket/small', [], SMALL],
  ['parts-bucket/small', [range(2, 4)], SMALL.subarray(2, 5)],
  ['parts-bucket/empty', [], Buffer.alloc(0)],
]

for (const encryptionEnabled of [false, true]) {
  test(`the bytes are those of the source, ${encryptionEnabled ? 'encrypted' : 'plain'}`, async (t) => {
    const at = encryptionEnabled ? await startInThread({ encryptionEnabled, extensions: ['upload-part-copy'] }) : server
    if (encryptionEnabled) {
      t.teardown(() => at.stop())
      await at.raw('PUT', bucket)
      await put(at, 'parts-bucket/small', SMALL)
      await put(at, 'parts-bucket/large', LARGE)
      await put(at, 'parts-bucket/empty', '')
      await uploadWhole(at, `${bucket}/whole`, PIECES)
    }
    for (const [index, [source, more, bytes]] of COPIES.entries()) {
      const target = `${bucket}/made-${index}`
      const upload = await createUpload(at, target)
      const parts = [await copied(t, at, [target, upload], 7, [source, ...more], bytes)]
      const listed = await at.raw('GET', uploadTarget(target, upload))
      t.same(elements(listed.text, 'Size'), [String(bytes.length)])
      const done = await complete(at, target, upload, parts)
      isDone(t, done, 200, `complete ${index}`)
      t.equal((firstElement(done.text, 'ETag') ?? '').replaceAll('&quot;', '"'), etagOfParts(parts))
      const got = await at.raw('GET', target)
      t.ok(got.body.equals(bytes), `${source} ${more.join()} reads back`)
    }
    t.same(at.failures, [])
  })
}

test('what is copied whole is shared, and lives for as long as the part', async (t) => {
  const target = `${bucket}/shared`
  await put(server, 'parts-bucket/mortal', LARGE)
  const before = (await settledFiles(server)).length
  const upload = await createUpload(server, target)
  const part = await copied(t, server, [target, upload], 1, ['parts-bucket/mortal'], LARGE)
  await copied(t, server, [target, upload], 1, ['parts-bucket/mortal'], LARGE)
  t.equal((await settledFiles(server)).length, before, 'no byte was written')
  await remove(server, 'parts-bucket/mortal')
  t.equal((await settledFiles(server)).length, before, 'the part holds it')
  isDone(t, await complete(server, target, upload, [part]), 200, 'complete')
  t.ok((await raw('GET', target)).body.equals(LARGE))
  await remove(server, target.slice(1))
  t.equal((await settledFiles(server)).length, before - 1, 'and nothing does afterwards')
})

test('an upload that is aborted leaves the source and nothing else', async (t) => {
  const target = `${bucket}/aborted`
  const files = await settledFiles(server)
  const upload = await createUpload(server, target)
  await copied(t, server, [target, upload], 1, ['parts-bucket/large'], LARGE)
  await copied(t, server, [target, upload], 2, ['parts-bucket/large', range(0, 99_999)], LARGE.subarray(0, 100_000))
  t.equal(payloadFileNames(server.paths).length, files.length + 1, 'a range has a file of its own')
  isDone(t, await abort(server, target, upload), 204, 'abort')
  t.same(await settledFiles(server), files)
  t.ok((await raw('GET', `${bucket}/large`)).body.equals(LARGE))
  const late = await copyOf(server, target, upload, 1, 'parts-bucket/large')
  isError(t, late, 'NoSuchUpload', 'after the abort')
})

test('versions of the source, and conditions on it', async (t) => {
  await raw('PUT', '/versioned-bucket')
  await put(server, 'versioned-bucket/key', 'before versioning')
  await setVersioning(server, 'versioned-bucket', 'enabled')
  const second = await put(server, 'versioned-bucket/key', 'second')
  const third = await put(server, 'versioned-bucket/key', 'third')
  const marker = await remove(server, 'versioned-bucket/hidden')
  const target = `${bucket}/of-versions`
  const upload = await createUpload(server, target)
  const copy = (source: string, ...more: HeaderLine[]) => copyOf(server, target, upload, 1, source, more)
  const cases: readonly (readonly [source: string, version: string | undefined, text: string])[] = [
    ['versioned-bucket/key', third, 'third'],
    [`versioned-bucket/key?versionId=${second}`, second, 'second'],
    ['versioned-bucket/key?versionId=null', 'null', 'before versioning'],
  ]
  for (const [source, version, text] of cases) {
    const answer = await copy(source)
    isDone(t, answer, 200, source)
    t.equal(answer.headers['x-amz-copy-source-version-id'], version)
    t.equal(partOf(1, answer.text).etag, `"${hash('md5', text, 'hex')}"`)
  }
  const plain = await copy('parts-bucket/small')
  t.equal(plain.headers['x-amz-copy-source-version-id'], undefined)
  isError(t, await copy(`versioned-bucket/hidden?versionId=${marker}`), 'InvalidRequest', 'a marker')
  isError(t, await copy('versioned-bucket/hidden'), 'NoSuchKey', 'hidden')
  isError(t, await copy(`versioned-bucket/key?versionId=${'0'.repeat(22)}`), 'NoSuchVersion', 'never given out')
  isError(t, await copy('versioned-bucket/key?versionId=a%20b'), 'InvalidArgument', 'no version id')
  const etag = `"${hash('md5', SMALL, 'hex')}"`
  const conditions: readonly (readonly [HeaderLine, boolean])[] = [
    [['x-amz-copy-source-if-match', etag], true],
    [['x-amz-copy-source-if-match', '"other"'], false],
    [['x-amz-copy-source-if-none-match', etag], false],
    [['x-amz-copy-source-if-none-match', '"other"'], true],
    [['x-amz-copy-source-if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT'], false],
    [['x-amz-copy-source-if-modified-since', 'Thu, 01 Jan 2015 00:00:00 GMT'], true],
  ]
  for (const [condition, holds] of conditions) {
    for (const more of [[], [range(0, 0)]]) {
      const answer = await copy('parts-bucket/small', condition, ...more)
      if (holds) isDone(t, answer, 200, condition.join())
      else isError(t, answer, 'PreconditionFailed', condition.join())
    }
  }
})

test('a client that leaves ends its copy, and nothing is left of it', async (t) => {
  const target = `${bucket}/left`
  const files = await settledFiles(server)
  const upload = await createUpload(server, target)
  const writer = openRaw(server.port)
  const line = partTarget(target, upload, 1)
  const text = server.wire.headText('PUT', line, {
    headers: [['x-amz-copy-source', 'parts-bucket/whole']],
    sign: { payloadHash: 'UNSIGNED-PAYLOAD' },
    unsignedHeaders: [['content-length', '0']],
  })
  writer.send(text)
  while (readdirSync(server.paths.uploads).length === 0) await new Promise((resolve) => setImmediate(resolve))
  writer.socket.destroy()
  while (server.gate.active > 0) await new Promise((resolve) => setImmediate(resolve))
  t.same(readdirSync(server.paths.uploads), [])
  t.same(await settledFiles(server), files)
  t.same(elements((await raw('GET', uploadTarget(target, upload))).text, 'PartNumber'), [])
  t.equal(copyTurns.used, 0)
  await abort(server, target, upload)
})

test('many copies at once run a few at a time, and others come in between', async (t) => {
  const target = `${bucket}/crowd`
  const upload = await createUpload(server, target)
  let mostRunning = 0
  const bytes = WHOLE.subarray(1)
  const copies = Array.from({ length: shareTable['copy-turns'].waitingMaximum }, async (_, index) => {
    const answer = await copyOf(server, target, upload, index + 1, 'parts-bucket/whole', [range(1, WHOLE.length - 1)])
    mostRunning = Math.max(mostRunning, copyTurns.used)
    return answer
  })
  while (copyTurns.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  const beside = await raw('GET', `${bucket}/small`)
  t.ok(beside.body.equals(SMALL))
  t.ok(copyTurns.waiting > 0, 'a read was answered while copies wait')
  const answers = await Promise.all(copies)
  t.ok(answers.every(({ status }) => status === 200))
  t.ok(answers.every(({ text }) => partOf(1, text).etag === `"${hash('md5', bytes, 'hex')}"`))
  t.ok(mostRunning <= 2, `${mostRunning} ran at once`)
  await abort(server, target, upload)
})

test('after a restart without projections all of it is there', async (t) => {
  const target = `${bucket}/restarted`
  const upload = await createUpload(server, target)
  const parts = [
    await copied(t, server, [target, upload], 1, ['parts-bucket/whole', range(1, WHOLE.length - 1)], WHOLE.subarray(1)),
    await copied(t, server, [target, upload], 2, ['parts-bucket/large'], LARGE),
  ]
  await copied(t, server, [target, upload], 3, ['parts-bucket/small'], SMALL)
  await remove(server, 'parts-bucket/large')
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  await server.stop()
  t.match(await checkProjections(nodeDisk, server.paths), { differenceCount: 0 })
  rmSync(server.paths.projections, { recursive: true })
  // What an extension has written is there after it was turned off.
  const again = await startInThread({ dataDirectory })
  t.teardown(() => again.stop())
  isDone(t, await complete(again, target, upload, parts), 200, 'complete')
  const got = await again.raw('GET', target)
  t.ok(got.body.equals(Buffer.concat([WHOLE.subarray(1), LARGE])))
  isError(t, await copyOf(again, target, upload, 1, 'parts-bucket/small'), 'NotImplemented', 'and refused again')
})
