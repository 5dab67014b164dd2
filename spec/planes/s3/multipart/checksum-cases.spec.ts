/** Checksums of multipart objects where parts are copied, empty, left out, replaced or not consecutive (spec/decisions/0052). */
import { rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import type { ChecksumAlgorithm } from '../../../../engine/events/values.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { createUpload, largePart, PART_BYTES, uploadTarget, uploadWhole } from '../../../support/multipart.ts'
import { copyOf, partOf, range } from '../../../support/part-copies.ts'
import {
  asking,
  base64Sum,
  CHECKSUM_KINDS,
  ENABLED,
  sendSummed,
  summedCompletion,
  type SummedPart,
  wholeSum,
} from '../../../support/summed-parts.ts'
import { startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../../support/wire-client.ts'
import { put } from '../../../support/wire-versions.ts'
import { everyNth } from '../../../support/share-of-cases.ts'

const extensions = ['append', 'checksums', 'rename-object', 'upload-part-copy'] as const
const dataDirectory = temporaryDirectory()
let server = await startInThread({ dataDirectory, extensions })
tap.teardown(async () => {
  await server.stop()
  rmSync(dataDirectory, { recursive: true })
})
await server.raw('PUT', '/sums')

const LARGE = [largePart(1), largePart(2, 7)] as const
const LAST = Buffer.from('the end')
const NOTHING = Buffer.alloc(0)

/** The sum of a whole is made of the sums of parts in three ways: it is theirs, or joined from 32 or from 64 bits. */
const KINDS = everyNth(CHECKSUM_KINDS, CHECKSUM_KINDS.length, ([algorithm, type]) => [
  type === 'COMPOSITE' ? type : algorithm === 'crc64nvme' ? 64 : 32,
])

function complete([target, upload]: readonly [string, string], body: string, headers: readonly HeaderLine[] = []) {
  return server.raw('POST', uploadTarget(target, upload), { body, headers })
}

async function begun(key: string, headers: readonly HeaderLine[]): Promise<readonly [string, string]> {
  const target = `/sums/${key}`
  return [target, await createUpload(server, target, headers)]
}

/** Completes with the checksum of the whole beside the list, and reads it back. */
async function completed(
  t: Test,
  place: readonly [string, string],
  [algorithm, type]: readonly [ChecksumAlgorithm, string],
  parts: readonly SummedPart[],
  bodies: readonly Buffer[],
): Promise<void> {
  const whole = wholeSum(algorithm, type, bodies)
  const name = `x-amz-checksum-${algorithm}`
  isDone(t, await complete(place, summedCompletion(parts), [[name, whole]]), 200, `${place[0]}: complete`)
  const got = await server.raw('GET', place[0], { headers: [ENABLED] })
  t.ok(got.body.equals(Buffer.concat(bodies)), `${place[0]}: bytes`)
  t.equal(got.headers[name], whole, `${place[0]}: ${algorithm} ${type}`)
  t.equal(got.headers['x-amz-checksum-type'], type)
}

test('parts that are copied have a checksum like those that are sent', async (t) => {
  await server.raw('PUT', '/sums/with-crc', {
    body: LARGE[0],
    headers: [['x-amz-checksum-crc32', base64Sum('crc32', LARGE[0])]],
  })
  await put(server, 'sums/plain', LARGE[0])
  await put(server, 'sums/empty', '')
  await uploadWhole(server, '/sums/of-parts', [...LARGE, LAST])
  const whole = Buffer.concat([...LARGE, LAST])
  const copies: readonly (readonly [source: string, more: HeaderLine[], bytes: Buffer])[] = [
    ['sums/with-crc', [], LARGE[0]],
    ['sums/plain', [], LARGE[0]],
    ['sums/plain', [range(0, PART_BYTES - 1)], LARGE[0]],
    ['sums/of-parts', [range(3, PART_BYTES + 9)], whole.subarray(3, PART_BYTES + 10)],
    ['sums/of-parts', [], whole],
    ['sums/empty', [], NOTHING],
  ]
  for (const [algorithm, type] of KINDS) {
    const place = await begun(`copied-${algorithm}-${type}`, asking(algorithm, type))
    const name = `Checksum${algorithm.toUpperCase()}`
    const parts: SummedPart[] = []
    for (const [index, [source, more, bytes]] of copies.entries()) {
      const answer = await copyOf(server, ...place, index + 1, source, more)
      isDone(t, answer, 200, `${algorithm} of ${source}`)
      const text = firstElement(answer.text, name)
      t.equal(text, base64Sum(algorithm, bytes), `${algorithm} of ${source} ${more.join()}`)
      parts.push({ ...partOf(index + 1, answer.text), sum: [name, text ?? ''] })
    }
    const listed = await server.raw('GET', uploadTarget(...place))
    t.same(
      elements(listed.text, name),
      parts.map(({ sum }) => sum?.[1]),
      'ListParts',
    )
    await completed(
      t,
      place,
      [algorithm, type],
      parts,
      copies.map(([, , bytes]) => bytes),
    )
  }
  const plain = await begun('copied', [])
  const answer = await copyOf(server, ...plain, 1, 'sums/with-crc')
  t.notMatch(answer.text, /Checksum/, 'an upload that asked for none gets none')
})

test('numbers that are not consecutive, a part that is left out, and one that was sent twice', async (t) => {
  for (const [algorithm, type] of KINDS) {
    const place = await begun(`gaps-${algorithm}-${type}`, asking(algorithm, type))
    const send = (number: number, body: Buffer) => sendSummed(server, place, number, body, algorithm)
    const before = await send(3, LARGE[1])
    await send(5, LARGE[1])
    const last = await send(10_000, LAST)
    const second = await send(7, LARGE[1])
    const first = await send(3, LARGE[0])
    const stale = summedCompletion([{ ...first, sum: before.sum }, second, last])
    isError(t, await complete(place, stale), 'InvalidPart', 'the checksum of the part that was replaced')
    await completed(t, place, [algorithm, type], [first, second, last], [...LARGE, LAST])
    const headers = [['x-amz-object-attributes', 'ObjectParts']] as const
    const { text } = await server.raw('GET', `${place[0]}?attributes`, { headers })
    t.same(elements(text, 'PartNumber'), ['1', '2', '3'], 'parts are counted by their place in the object')
    t.same(
      elements(text, `Checksum${algorithm.toUpperCase()}`),
      [first, second, last].map(({ sum }) => sum?.[1]),
    )
  }
})

test('objects of nothing, and an empty last part', async (t) => {
  for (const [algorithm, type] of KINDS) {
    for (const bodies of [[NOTHING], [LARGE[0], NOTHING]]) {
      const place = await begun(`empty-${algorithm}-${type}-${bodies.length}`, asking(algorithm, type))
      const parts: SummedPart[] = []
      for (const [index, body] of bodies.entries())
        parts.push(await sendSummed(server, place, index + 1, body, algorithm))
      await completed(t, place, [algorithm, type], parts, bodies)
    }
  }
})

test('a completion that says another type or another algorithm than the upload is refused', async (t) => {
  for (const [algorithm, type] of KINDS) {
    const place = await begun(`types-${algorithm}-${type}`, asking(algorithm, type))
    const parts = [
      await sendSummed(server, place, 1, LARGE[0], algorithm),
      await sendSummed(server, place, 2, LAST, algorithm),
    ]
    const bodies = [LARGE[0], LAST]
    const list = summedCompletion(parts)
    const name = `x-amz-checksum-${algorithm}`
    const whole = wholeSum(algorithm, type, bodies)
    const [value] = whole.split('-')
    const other = algorithm === 'sha256' ? 'sha1' : 'sha256'
    const foreign = parts.map((part, index) => ({
      ...part,
      sum: [`Checksum${other.toUpperCase()}`, base64Sum(other, bodies[index] as Buffer)] as const,
    }))
    const cases: readonly (readonly [string, HeaderLine[]])[] = [
      [list, [[name, type === 'COMPOSITE' ? `${value}-3` : `${value}-2`]]],
      [list, [[name, `${value}-`]]],
      [list, [[name, `${value}-02`]]],
      [list, [['x-amz-checksum-type', type === 'COMPOSITE' ? 'FULL_OBJECT' : 'COMPOSITE']]],
      [list, [['x-amz-checksum-type', 'HALF']]],
      [summedCompletion(foreign), []],
    ]
    for (const [body, headers] of cases) {
      isError(t, await complete(place, body, headers), 'InvalidRequest', `${algorithm} ${type}: ${headers.join()}`)
    }
    await completed(t, place, [algorithm, type], parts, bodies)
  }
  const plain = await begun('types', [])
  const part = await sendSummed(server, plain, 1, LAST, 'crc32')
  for (const type of ['FULL_OBJECT', 'COMPOSITE', 'HALF']) {
    const answer = await complete(plain, summedCompletion([part]), [['x-amz-checksum-type', type]])
    isError(t, answer, 'InvalidRequest', `${type}, where the upload asked for none`)
  }
  isDone(t, await complete(plain, summedCompletion([part])), 200, 'listed checksums of such an upload are passed over')
})

test('a list that has more than one fault is refused for the first of them, in the order of S3', async (t) => {
  const place = await begun('order', asking('sha256'))
  const first = await sendSummed(server, place, 1, LARGE[0], 'sha256')
  const second = await sendSummed(server, place, 2, LAST, 'sha256')
  const none = { ...first, sum: undefined }
  const broken = summedCompletion([none, second]).replace('</CompleteMultipartUpload>', '')
  isError(t, await complete(place, broken), 'MalformedXML', 'no checksum, and no end')
  isError(t, await complete(place, summedCompletion([second, none])), 'InvalidPartOrder', 'no checksum, and no order')
  const foreign = { ...none, etag: '"x"' }
  isError(t, await complete(place, summedCompletion([foreign, second])), 'InvalidPart', 'no checksum, and no MD5')
  isError(t, await complete(place, summedCompletion([none, second])), 'InvalidRequest', 'no checksum')
})

function attributes(target: string, headers: readonly HeaderLine[] = []) {
  return server.raw('GET', `${target}?attributes`, {
    headers: [['x-amz-object-attributes', 'ObjectParts'], ...headers],
  })
}

test('GetObjectAttributes pages through the parts, and only counts those without checksums', async (t) => {
  const target = '/sums/gaps-crc32-COMPOSITE'
  const numbers: string[] = []
  let marker: string | undefined = '0'
  while (marker !== undefined) {
    const headers = [
      ['x-amz-max-parts', '1'],
      ['x-amz-part-number-marker', marker],
    ] as const
    const { text } = await attributes(target, headers)
    t.equal(firstElement(text, 'PartNumberMarker'), marker)
    t.equal(firstElement(text, 'MaxParts'), '1')
    numbers.push(...elements(text, 'PartNumber'))
    marker = firstElement(text, 'NextPartNumberMarker')
    t.equal(firstElement(text, 'IsTruncated'), String(marker !== undefined))
  }
  t.same(numbers, ['1', '2', '3'])
  for (const [headers, listed, maximum] of [
    [[['x-amz-max-parts', '0']], 0, '0'],
    [[['x-amz-max-parts', '2000']], 3, '1000'],
    [[['x-amz-part-number-marker', '3']], 0, '1000'],
    [[['x-amz-part-number-marker', '9999999999']], 0, '1000'],
  ] as const) {
    const { text } = await attributes(target, headers)
    t.equal(blocks(text, 'Part').length, listed, headers.join())
    t.same([firstElement(text, 'IsTruncated'), firstElement(text, 'MaxParts')], ['false', maximum])
  }
  for (const text of ['', '1.5', '1e3', '-1', '12345678901']) {
    isError(t, await attributes(target, [['x-amz-part-number-marker', text]]), 'InvalidArgument', text)
  }
  const { text } = await attributes('/sums/of-parts', [['x-amz-max-parts', '1']])
  t.equal(firstElement(text, 'ObjectParts'), '<PartsCount>3</PartsCount>', 'no page of parts that are not listed')
})

test('ranges and parts have no checksum; a rename keeps it, an append has none, an append of nothing keeps it', async (t) => {
  const target = '/sums/gaps-crc32-FULL_OBJECT'
  const sum = wholeSum('crc32', 'FULL_OBJECT', [...LARGE, LAST])
  const read = async (at: string, ...more: HeaderLine[]) =>
    (await server.raw('GET', at, { headers: [ENABLED, ...more] })).headers['x-amz-checksum-crc32']
  t.equal(await read(target, ['range', 'bytes=0-5']), undefined, 'a range')
  t.equal(await read(`${target}?partNumber=1`), undefined, 'a part')
  const renamed = '/sums/renamed'
  const source: HeaderLine = ['x-amz-rename-source', target]
  isDone(t, await server.raw('PUT', `${renamed}?renameObject`, { headers: [source] }), 200, 'rename')
  t.equal(await read(renamed), sum)
  t.match((await attributes(renamed)).text, /<ChecksumCRC32>/)
  const size = Buffer.concat([...LARGE, LAST]).length
  const append = (body: string) =>
    server.raw('PUT', renamed, { body, headers: [['x-amz-write-offset-bytes', String(size)]] })
  isDone(t, await append(''), 200, 'of nothing')
  t.equal(await read(renamed), sum)
  isDone(t, await append('more'), 200, 'of bytes')
  t.equal(await read(renamed), undefined)
  t.equal(firstElement((await attributes(renamed)).text, 'ObjectParts'), '<PartsCount>4</PartsCount>')
})

test('all of it after a replay', async (t) => {
  await server.stop()
  rmSync(server.paths.projections, { recursive: true })
  server = await startInThread({ dataDirectory, extensions })
  for (const [algorithm, type] of KINDS) {
    for (const kind of ['copied', 'empty']) {
      const key = kind === 'empty' ? `empty-${algorithm}-${type}-1` : `copied-${algorithm}-${type}`
      const { headers, body } = await server.raw('GET', `/sums/${key}`, { headers: [ENABLED] })
      const text = headers[`x-amz-checksum-${algorithm}`]
      if (kind === 'empty' || type === 'FULL_OBJECT') {
        t.equal(text, kind === 'empty' ? wholeSum(algorithm, type, [NOTHING]) : base64Sum(algorithm, body), key)
      } else t.match(text, /^[^-]+-6$/, key)
    }
  }
  t.same(server.failures, [])
})
