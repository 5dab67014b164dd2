/** Objects and parts whose bodies come in chunks: what is stored is what would be without them. */
import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import tap, { test } from 'tap'
import { CHECKSUM_BYTES, type ChecksumAlgorithm } from '../../../../engine/events/values.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { startChecksum } from '../../../../planes/s3/request/checksums.ts'
import { CHUNK_FORMS, hasTrailer } from '../../../support/chunked-requests.ts'
import { putChunked } from '../../../support/chunked-sends.ts'
import { complete, createUpload, PART_BYTES, partTarget } from '../../../support/multipart.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { everyNth } from '../../../support/share-of-cases.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const server = await startInThread({ extensions: ['aws-chunked'], unsignedChunksOverHttp: 'true' })
tap.teardown(() => server.stop())
const { raw, paths } = server

const SIZES = [0, 1, 8191, 8192, 65_535, 65_536, 65_537, 300_000, 3 * 1024 ** 2 + 17]
const ALGORITHMS = Object.keys(CHECKSUM_BYTES) as ChecksumAlgorithm[]

await raw('PUT', '/chunked')

function lineOf(algorithm: ChecksumAlgorithm, payload: Buffer): HeaderLine {
  const running = startChecksum(algorithm)
  running.update(payload)
  return [`x-amz-checksum-${algorithm}`, running.digest().toString('base64')]
}

/** Names of all payload files, those of uploads on their way included. */
function payloadFiles(): string[] {
  const stored = readdirSync(paths.files).flatMap((directory) => readdirSync(`${paths.files}/${directory}`))
  return [...stored, ...readdirSync(paths.uploads)]
}

test('objects of every size, in every form, with a length and without', async (t) => {
  const cases = CHUNK_FORMS.flatMap((form) =>
    SIZES.flatMap((size) => [true, false].map((isSized) => ({ form, size, isSized }))),
  )
  const kindsOf = ({ form, size, isSized }: (typeof cases)[number]) => [`${form} ${isSized}`, `${size} ${isSized}`]
  for (const { form, size, isSized } of everyNth(cases, 5, kindsOf)) {
    const payload = sampleBytes(size, size + 1)
    const key = `/chunked/${form}-${size}-${isSized}`
    const name = `${form}, ${size} bytes, ${isSized ? 'sized' : 'in chunks of HTTP'}`
    const answer = await putChunked(server, key, { form, payload }, isSized)
    isDone(t, answer, 200, name)
    t.equal(answer.headers.etag, `"${hash('md5', payload, 'hex')}"`, `${name}: ETag`)
    const got = await raw('GET', key)
    t.ok(got.body.equals(payload), `${name}: comes back`)
    t.equal(got.headers['content-encoding'], undefined, `${name}: the form of the transfer is not stored`)
  }
})

test('chunks of every size, and line ends as the libraries of MinIO write them', async (t) => {
  const payload = sampleBytes(1_000_000, 3)
  for (const form of CHUNK_FORMS) {
    for (const chunkBytes of [8192, 65_536, 131_072, 999_999, 1_000_000]) {
      const options = { form, payload, chunkBytes, lineEnd: '\n\r\n' } as const
      isDone(t, await putChunked(server, '/chunked/sizes', options), 200, `${form} by ${chunkBytes}`)
      t.ok((await raw('GET', '/chunked/sizes')).body.equals(payload))
    }
  }
})

test('a trailing checksum is echoed, stored and given back like one of the head', async (t) => {
  for (const algorithm of ALGORITHMS) {
    for (const size of [0, 4096, 200_000]) {
      for (const form of CHUNK_FORMS.filter(hasTrailer)) {
        const payload = sampleBytes(size, size)
        const trailer = lineOf(algorithm, payload)
        const key = `/chunked/${algorithm}-${size}`
        const stored = await putChunked(server, key, { form, payload, trailer })
        isDone(t, stored, 200, `${key} ${form}`)
        t.equal(stored.headers[trailer[0]], trailer[1], 'echoed')
        const got = await raw('GET', key, { headers: [['x-amz-checksum-mode', 'ENABLED']] })
        t.equal(got.headers[trailer[0]], trailer[1], 'given back')
      }
    }
  }
})

test('what is stored of a content encoding is what is left without the chunks', async (t) => {
  const payload = sampleBytes(1000)
  const stored: readonly (readonly [sent: string, kept: string | undefined])[] = [
    ['aws-chunked', undefined],
    ['aws-chunked,gzip', 'gzip'],
    ['gzip, AWS-chunked', 'gzip'],
    ['aws-chunked, br, gzip', 'br,gzip'],
    ['gzip', 'gzip'],
  ]
  for (const [sent, kept] of stored) {
    const options = { form: CHUNK_FORMS[0], payload, headers: [['content-encoding', sent]] as const }
    isDone(t, await putChunked(server, '/chunked/encoding', options), 200, sent)
    t.equal((await raw('GET', '/chunked/encoding')).headers['content-encoding'], kept, sent)
  }
})

test('metadata, conditions, and MD5 hold as for any other body', async (t) => {
  const payload = sampleBytes(100_000, 5)
  const md5 = hash('md5', payload, 'base64')
  const form = CHUNK_FORMS[1]
  const headers: HeaderLine[] = [
    ['x-amz-meta-a', 'b'],
    ['content-md5', md5],
    ['if-none-match', '*'],
  ]
  isDone(t, await putChunked(server, '/chunked/meta', { form, payload, headers }), 200, 'a new key')
  t.equal((await raw('HEAD', '/chunked/meta')).headers['x-amz-meta-a'], 'b')
  const files = payloadFiles()
  isError(t, await putChunked(server, '/chunked/meta', { form, payload, headers }), 'PreconditionFailed', 'an old one')
  t.same(payloadFiles(), files, 'nothing is left of the second')
  const isGone = putChunked(server, '/no-such-bucket/k', { form, payload })
  isError(t, await isGone, 'NoSuchBucket', 'no bucket')
})

test('parts, whole and spoiled', async (t) => {
  const upload = await createUpload(server, '/chunked/parts')
  const first = sampleBytes(PART_BYTES, 7)
  const last = sampleBytes(1000, 8)
  const target = (number: number): string => partTarget('/chunked/parts', upload, number)
  const parts = []
  for (const [number, payload, form] of [
    [1, first, CHUNK_FORMS[0]],
    [2, last, CHUNK_FORMS[2]],
  ] as const) {
    const answer = await putChunked(server, target(number), { form, payload })
    isDone(t, answer, 200, `part ${number}`)
    parts.push({ number, etag: String(answer.headers.etag) })
  }
  const trailer: HeaderLine = ['x-amz-checksum-crc32', 'AAAAAA==']
  isError(
    t,
    await putChunked(server, target(2), { form: CHUNK_FORMS[2], payload: last, trailer }),
    'BadDigest',
    'a sum',
  )
  isDone(t, await complete(server, '/chunked/parts', upload, parts), 200, 'completed')
  t.ok((await raw('GET', '/chunked/parts')).body.equals(Buffer.concat([first, last])))
})

test('what is refused leaves nothing', async (t) => {
  const files = payloadFiles()
  const payload = sampleBytes(400_000, 9)
  const trailer: HeaderLine = ['x-amz-checksum-crc32', 'AAAAAA==']
  isError(
    t,
    await putChunked(server, '/chunked/none', { form: CHUNK_FORMS[1], payload, trailer }),
    'BadDigest',
    'signed',
  )
  isError(t, await putChunked(server, '/chunked/none', { form: CHUNK_FORMS[2], payload, trailer }), 'BadDigest', 'not')
  isError(
    t,
    await putChunked(server, '/chunked/none', { form: CHUNK_FORMS[0], payload, chunkBytes: 8191 }),
    'InvalidChunkSizeError',
    'small',
  )
  isError(t, await raw('GET', '/chunked/none'), 'NoSuchKey', 'nothing is there')
  t.same(payloadFiles(), files, 'nor a file')
  t.same(server.failures, [])
})

test('what no operation but those two takes is refused by name', async (t) => {
  const sign = { payloadHash: CHUNK_FORMS[0] }
  for (const [method, target] of [
    ['POST', '/chunked/k?uploads'],
    ['PUT', '/chunked?versioning'],
    ['GET', '/chunked/k'],
    ['PUT', '/another'],
  ] as const) {
    const answer = await raw(method, target, { sign })
    if (method === 'GET') t.equal(answer.status, 501)
    else isError(t, answer, 'NotImplemented', target)
    t.match(answer.text, /takes no chunks/)
  }
})
