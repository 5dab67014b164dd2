/** Checksums of multipart objects, and GetObjectAttributes (spec/decisions/0052). */
import * as sdk from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import type { ChecksumAlgorithm } from '../../../../engine/events/values.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { asking, base64Sum, CHECKSUM_KINDS, ENABLED, wholeSum } from '../../../support/summed-parts.ts'
import { type InThreadServer, startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../../support/wire-client.ts'
import { createBucket, put } from '../../../support/wire-versions.ts'

const MEBIBYTE = 1024 ** 2
const PARTS = [sampleBytes(5 * MEBIBYTE, 1), sampleBytes(5 * MEBIBYTE + 1, 2), sampleBytes(1000, 3)]
const WHOLE = Buffer.concat(PARTS)

const dataDirectory = temporaryDirectory()
let server = await startInThread({ dataDirectory, extensions: ['checksums'] })
tap.teardown(async () => {
  await server.stop()
  rmSync(dataDirectory, { recursive: true })
})
await createBucket(server, 'sums')

const wholes = new Map(
  CHECKSUM_KINDS.map(([algorithm, type]) => [`${algorithm} ${type}`, wholeSum(algorithm, type, PARTS)]),
)

/** What S3 makes of an upload of these parts. */
function expected(algorithm: ChecksumAlgorithm, type: string): string {
  return wholes.get(`${algorithm} ${type}`) ?? ''
}

async function begin(key: string, headers: readonly HeaderLine[], at: InThreadServer = server): Promise<string> {
  const answer = await at.raw('POST', `/sums/${key}?uploads`, { headers })
  return firstElement(answer.text, 'UploadId') ?? answer.text
}

function uploadPart(key: string, upload: string, number: number, headers: readonly HeaderLine[]) {
  const target = `/sums/${key}?partNumber=${number}&uploadId=${upload}`
  return server.raw('PUT', target, { headers, body: PARTS[number - 1] as Buffer })
}

async function uploadAll(key: string, upload: string, algorithm: ChecksumAlgorithm): Promise<void> {
  for (const [index, part] of PARTS.entries()) {
    const answer = await uploadPart(key, upload, index + 1, [
      [`x-amz-checksum-${algorithm}`, base64Sum(algorithm, part)],
    ])
    if (answer.status !== 200) throw new Error(answer.text)
  }
}

function listOf(sums: readonly (string | undefined)[], algorithm: ChecksumAlgorithm): string {
  const parts = PARTS.map((part, index) => {
    const name = `Checksum${algorithm.toUpperCase()}`
    const sum = sums[index] === undefined ? '' : `<${name}>${sums[index]}</${name}>`
    const etag = createHash('md5').update(part).digest('hex')
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag>${sum}</Part>`
  })
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

function complete(key: string, upload: string, body: string, headers: readonly HeaderLine[] = []) {
  return server.raw('POST', `/sums/${key}?uploadId=${upload}`, { body, headers })
}

test('every algorithm and type: kept with parts, listed, made of them, and given back, as long as the store lives', async (t) => {
  for (const [algorithm, type] of CHECKSUM_KINDS) {
    const key = `${algorithm}-${type}`
    const upload = await begin(key, asking(algorithm, type))
    await uploadAll(key, upload, algorithm)
    const listed = (await server.raw('GET', `/sums/${key}?uploadId=${upload}`)).text
    const sums = PARTS.map((part) => base64Sum(algorithm, part))
    t.equal(firstElement(listed, 'ChecksumAlgorithm'), algorithm.toUpperCase(), key)
    t.equal(firstElement(listed, 'ChecksumType'), type)
    t.same(elements(listed, `Checksum${algorithm.toUpperCase()}`), sums)
    const uploads = (await server.raw('GET', `/sums?uploads&prefix=${key}`)).text
    t.equal(firstElement(uploads, 'ChecksumAlgorithm'), algorithm.toUpperCase())
    const whole: HeaderLine = [`x-amz-checksum-${algorithm}`, expected(algorithm, type)]
    const done = await complete(key, upload, listOf(sums, algorithm), [whole, ['x-amz-checksum-type', type]])
    isDone(t, done, 200, key)
    t.equal(firstElement(done.text, `Checksum${algorithm.toUpperCase()}`), expected(algorithm, type))
    isDone(t, await complete(key, upload, listOf(sums, algorithm)), 200, 'a repeat')
  }
  for (const after of ['nothing', 'a restart', 'a replay']) {
    if (after !== 'nothing') await server.stop()
    if (after === 'a replay') rmSync(server.paths.projections, { recursive: true })
    if (after !== 'nothing') server = await startInThread({ dataDirectory, extensions: ['checksums'] })
    for (const [algorithm, type] of CHECKSUM_KINDS) {
      const { headers } = await server.raw('HEAD', `/sums/${algorithm}-${type}`, { headers: [ENABLED] })
      t.equal(headers[`x-amz-checksum-${algorithm}`], expected(algorithm, type), `${algorithm} ${type} after ${after}`)
      t.equal(headers['x-amz-checksum-type'], type)
    }
    const { text } = await server.raw('GET', '/sums?list-type=2&prefix=crc')
    t.same(
      elements(text, 'ChecksumType'),
      CHECKSUM_KINDS.slice(0, 5).map(([, type]) => type),
    )
    const versions = (await server.raw('GET', '/sums?versions&prefix=sha')).text
    t.same(elements(versions, 'ChecksumAlgorithm'), ['SHA1', 'SHA256'])
  }
})

test('what an upload cannot ask for, and the types that it gets without one', async (t) => {
  for (const headers of [
    asking('sha1', 'FULL_OBJECT'),
    asking('sha256', 'FULL_OBJECT'),
    asking('crc64nvme', 'COMPOSITE'),
    asking('crc32', 'HALF'),
    [['x-amz-checksum-type', 'COMPOSITE']] as HeaderLine[],
  ]) {
    isError(t, await server.raw('POST', '/sums/k?uploads', { headers }), 'InvalidRequest', headers.join('; '))
  }
  const unknown = [['x-amz-checksum-algorithm', 'MD5']] as const
  isError(t, await server.raw('POST', '/sums/k?uploads', { headers: unknown }), 'NotImplemented', 'MD5')
  for (const [algorithm, type] of [
    ['crc32', 'COMPOSITE'],
    ['sha1', 'COMPOSITE'],
    ['crc64nvme', 'FULL_OBJECT'],
  ] as const) {
    const { headers } = await server.raw('POST', '/sums/k?uploads', { headers: asking(algorithm) })
    t.equal(headers['x-amz-checksum-algorithm'], algorithm.toUpperCase())
    t.equal(headers['x-amz-checksum-type'], type)
  }
})

test('parts and completions that say another checksum, or none, are refused, and the upload stays', async (t) => {
  const upload = await begin('strict', asking('sha256'))
  isError(t, await uploadPart('strict', upload, 1, []), 'InvalidRequest', 'none')
  const crc: HeaderLine = ['x-amz-checksum-crc32', base64Sum('crc32', PARTS[0] as Buffer)]
  isError(t, await uploadPart('strict', upload, 1, [crc]), 'InvalidRequest', 'another')
  const wrong: HeaderLine = ['x-amz-checksum-sha256', base64Sum('sha256', PARTS[1] as Buffer)]
  isError(t, await uploadPart('strict', upload, 1, [wrong]), 'BadDigest', 'wrong')
  await uploadAll('strict', upload, 'sha256')
  const sums = PARTS.map((part) => base64Sum('sha256', part))
  const whole = expected('sha256', 'COMPOSITE')
  const cases = [
    [listOf([sums[0], undefined, sums[2]], 'sha256'), [], 'InvalidRequest'],
    [listOf([sums[0], sums[0], sums[2]], 'sha256'), [], 'InvalidPart'],
    [listOf([sums[0], 'x', sums[2]], 'sha256'), [], 'InvalidRequest'],
    [listOf(sums, 'sha256'), [['x-amz-checksum-sha256', `${whole.slice(0, -1)}4`]], 'InvalidRequest'],
    [listOf(sums, 'sha256'), [['x-amz-checksum-sha256', `${sums[0]}-3`]], 'BadDigest'],
    [listOf(sums, 'sha256'), [['x-amz-checksum-crc32', base64Sum('crc32', WHOLE)]], 'BadDigest'],
    [listOf(sums, 'sha256'), [['x-amz-checksum-type', 'FULL_OBJECT']], 'InvalidRequest'],
  ] as const
  for (const [body, headers, code] of cases) isError(t, await complete('strict', upload, body, headers), code, body)
  isDone(t, await complete('strict', upload, listOf(sums, 'sha256'), [['x-amz-checksum-sha256', whole]]), 200, 'right')

  const full = await begin('full', asking('crc32', 'FULL_OBJECT'))
  await uploadAll('full', full, 'crc32')
  const changed: HeaderLine = ['x-amz-checksum-crc32', base64Sum('crc32', PARTS[0] as Buffer)]
  isError(t, await complete('full', full, listOf([], 'crc32'), [changed]), 'BadDigest', 'another whole')
  isDone(t, await complete('full', full, listOf([], 'crc32')), 200, 'no part is listed with its checksum')
  const plain = await begin('plain', [])
  await uploadAll('plain', plain, 'crc32')
  const declared: HeaderLine = ['x-amz-checksum-crc32', base64Sum('crc32', WHOLE)]
  isError(t, await complete('plain', plain, listOf([], 'crc32'), [declared]), 'NotImplemented', 'none was asked for')
  isDone(t, await complete('plain', plain, listOf([], 'crc32')), 200, 'without one')
  t.equal((await server.raw('HEAD', '/sums/plain', { headers: [ENABLED] })).headers['x-amz-checksum-type'], undefined)
})

function attributes(target: string, names: string, headers: readonly HeaderLine[] = []) {
  return server.raw('GET', `${target}?attributes`, { headers: [['x-amz-object-attributes', names], ...headers] })
}

test('GetObjectAttributes: what is asked for, parts in pages, and no more', async (t) => {
  const all = 'ETag,Checksum,ObjectParts,StorageClass,ObjectSize'
  const answer = await attributes('/sums/sha256-COMPOSITE', all)
  isDone(t, answer, 200, 'all')
  const [sum] = expected('sha256', 'COMPOSITE').split('-')
  t.equal(firstElement(answer.text, 'ChecksumSHA256'), sum, 'without the number of parts')
  t.match(firstElement(answer.text, 'ETag'), /^[0-9a-f]{32}-3$/)
  t.equal(firstElement(answer.text, 'ObjectSize'), String(WHOLE.length))
  t.equal(firstElement(answer.text, 'PartsCount'), '3')
  t.same(
    blocks(answer.text, 'Part').map((part) => firstElement(part, 'ChecksumSHA256')),
    PARTS.map((part) => base64Sum('sha256', part)),
  )
  const page = [
    ['x-amz-max-parts', '1'],
    ['x-amz-part-number-marker', '1'],
  ] as const
  const second = (await attributes('/sums/sha256-COMPOSITE', 'ObjectParts', page)).text
  t.same([firstElement(second, 'IsTruncated'), firstElement(second, 'NextPartNumberMarker')], ['true', '2'])
  t.same(elements(second, 'Size'), [String(5 * MEBIBYTE + 1)])
  t.equal(firstElement(second, 'ETag'), undefined)
  await put(server, 'sums/small', 'bytes')
  const small = (await attributes('/sums/small', all)).text
  t.same([firstElement(small, 'ObjectParts'), firstElement(small, 'Checksum')], [undefined, undefined])
  for (const names of ['', 'Etag', 'ETag,', 'ETag,Everything']) {
    isError(t, await attributes('/sums/small', names), 'InvalidArgument', names)
  }
  isError(t, await attributes('/sums/small', 'ETag', [['x-amz-max-parts', '-1']]), 'InvalidArgument', 'parts')
  isError(t, await attributes('/sums/missing', 'ETag'), 'NoSuchKey', 'missing')
  const told = await server.s3.send(
    new sdk.GetObjectAttributesCommand({
      Bucket: 'sums',
      Key: 'crc64nvme-FULL_OBJECT',
      ObjectAttributes: ['Checksum', 'ObjectParts', 'ObjectSize'],
    }),
  )
  t.match(told, { ObjectSize: WHOLE.length, ObjectParts: { TotalPartsCount: 3, IsTruncated: false } })
  t.equal(told.Checksum?.ChecksumCRC64NVME, base64Sum('crc64nvme', WHOLE))
})

test('a copy says the checksum of its source, and no other is made', async (t) => {
  const source: HeaderLine = ['x-amz-copy-source', 'sums/sha1-COMPOSITE']
  const copied = await server.raw('PUT', '/sums/copy', { headers: [source, ...asking('sha1')] })
  t.equal(firstElement(copied.text, 'ChecksumSHA1'), expected('sha1', 'COMPOSITE'))
  isError(
    t,
    await server.raw('PUT', '/sums/copy', { headers: [source, ...asking('crc32')] }),
    'NotImplemented',
    'another',
  )
})

test('off, everything is as before, also for what was written while it was on', async (t) => {
  const upload = await begin('left', asking('crc32'))
  await uploadAll('left', upload, 'crc32')
  await server.stop()
  server = await startInThread({ dataDirectory })
  isError(t, await attributes('/sums/small', 'ETag'), 'NotImplemented', 'attributes')
  const declared: HeaderLine = ['x-amz-checksum-crc32', base64Sum('crc32', WHOLE)]
  isError(t, await complete('left', upload, listOf([], 'crc32'), [declared]), 'NotImplemented', 'of the whole')
  const other = await server.raw('POST', '/sums/k?uploads', { headers: asking('sha1', 'FULL_OBJECT') })
  isDone(t, other, 200, 'what is asked for is passed over')
  t.equal(other.headers['x-amz-checksum-algorithm'], undefined)
  const { text } = await server.raw('GET', '/sums?list-type=2')
  t.notMatch(text, /Checksum/)
  isDone(t, await complete('left', upload, listOf([], 'crc32')), 200, 'completed')
  const { headers } = await server.raw('HEAD', '/sums/left', { headers: [ENABLED] })
  t.equal(headers['x-amz-checksum-crc32'], expected('crc32', 'COMPOSITE'), 'what it asked for while it was on')
})
