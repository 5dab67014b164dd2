/**
 * Multipart uploads, with good and bad parts and lists.
 * Proves: DO-CAP-03, DO-CAP-12, DO-NOT-04.
 */
import { createHash } from 'node:crypto'
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachHeader, eachQuery, makeBucket, ODD_NUMBERS, setVersioning, spoiledDocuments } from './helpers.ts'

const part = (number: number | string, etag: string) =>
  `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`
const list = (...all: readonly string[]) => `<CompleteMultipartUpload>${all.join('')}</CompleteMultipartUpload>`
const md5 = (body: string | Buffer) => createHash('md5').update(body).digest('hex')

const FIVE_MEBIBYTES = 5 * 1024 ** 2
const ONE = 'the first part'
const TWO = 'the second part'

async function begin(talk: Talk, key: string, headers: readonly string[] = []): Promise<string> {
  const answer = await talk.s3('POST', `${key}?uploads`, { headers })
  return answer.element('UploadId')
}

async function parts(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const key = `/${talk.bucket}/key`
  const id = await begin(talk, key)
  await eachQuery(
    talk,
    'PUT',
    key,
    ODD_NUMBERS.map((number) => `partNumber=${number}&uploadId=${id}`),
    { body: ONE },
  )
  await talk.s3('PUT', `${key}?uploadId=${id}`, { body: ONE })
  await talk.s3('PUT', `${key}?partNumber=10000&uploadId=${id}`, { body: TWO })
  await talk.s3('PUT', `${key}?partNumber=10001&uploadId=${id}`, { body: TWO })
  const ids = ['', 'u', 'A'.repeat(22), id.slice(1), `${id}A`, 'a%20b', '%00', id.toLowerCase()]
  for (const text of ids) talk.names.name('forged', text)
  for (const text of ids) {
    await talk.s3('PUT', `${key}?partNumber=1&uploadId=${text}`, { body: ONE })
    await talk.s3('GET', `${key}?uploadId=${text}`)
    await talk.s3('DELETE', `${key}?uploadId=${text}`)
    await talk.s3('POST', `${key}?uploadId=${text}`, { body: list(part(1, md5(ONE))) })
  }
  const other = `/${talk.bucket}/other?uploadId=${id}`
  await talk.s3('PUT', `${other}&partNumber=1`, { body: ONE })
  for (const method of ['GET', 'DELETE']) await talk.s3(method, other)
  await talk.s3('POST', other, { body: list(part(1, md5(ONE))) })
  await eachHeader(
    talk,
    'PUT',
    `${key}?partNumber=1&uploadId=${id}`,
    [
      'x-amz-meta-a: 1',
      'if-match: *',
      'x-amz-object-lock-legal-hold: ON',
      'content-md5: AAAA',
      `x-amz-checksum-sha256: ${createHash('sha256').update(ONE).digest('base64')}`,
      'x-amz-checksum-crc32: AAAAAA==',
      `x-amz-copy-source: ${talk.bucket}/key`,
      'x-amz-acl: public-read',
    ],
    { body: ONE },
  )
  await talk.s3('PUT', `${key}?partNumber=5&uploadId=${id}`, { body: ONE, length: 'none', fresh: true })
  await talk.s3('PUT', `${key}?partNumber=5&uploadId=${id}`, { body: ONE, chunked: true })
  const base = `uploadId=${id}`
  await eachQuery(talk, 'GET', key, [
    base,
    ...ODD_NUMBERS.map((number) => `${base}&max-parts=${number}`),
    ...ODD_NUMBERS.map((number) => `${base}&part-number-marker=${number}`),
    `${base}&max-parts=2&part-number-marker=1`,
    `${base}&part-number-marker=2147483647`,
    `${base}&part-number-marker=2147483648`,
    `${base}&encoding-type=url`,
  ])
  await talk.s3('DELETE', `${key}?${base}`)
  await talk.s3('DELETE', `${key}?${base}`)
  await talk.s3('GET', `${key}?${base}`)
}

const CREATION: readonly string[] = [
  'content-type: text/plain',
  'x-amz-meta-a: 1',
  `x-amz-meta-a: ${'x'.repeat(3000)}`,
  'x-amz-storage-class: STANDARD',
  'x-amz-storage-class: GLACIER',
  'x-amz-checksum-algorithm: SHA256',
  'x-amz-checksum-type: COMPOSITE',
  'x-amz-server-side-encryption: AES256',
  'x-amz-object-lock-legal-hold: ON',
  'if-none-match: *',
  'x-amz-acl: private',
]

async function completion(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const key = `/${talk.bucket}/key`
  await eachHeader(talk, 'POST', `${key}?uploads`, CREATION)
  await talk.s3('POST', `${key}?uploads`, { body: 'a body' })
  await talk.s3('POST', `/${talk.bucket}-none/key?uploads`)
  const id = await begin(talk, key, ['content-type: text/plain', 'x-amz-meta-a: 1'])
  const target = `${key}?uploadId=${id}`
  await talk.s3('POST', target, { body: list(part(1, md5(ONE))) })
  await talk.s3('PUT', `${key}?partNumber=1&uploadId=${id}`, { body: ONE })
  await talk.s3('PUT', `${key}?partNumber=2&uploadId=${id}`, { body: TWO })
  await talk.s3('PUT', `${key}?partNumber=7&uploadId=${id}`, { body: TWO })
  const [one, two] = [md5(ONE), md5(TWO)]
  const bodies = [
    list(),
    list(part(1, one), part(2, two)),
    list(part(2, two), part(1, one)),
    list(part(1, one), part(1, one)),
    list(part(3, one)),
    list(part(1, two)),
    list(part(1, 'x')),
    list(part(1, '')),
    list(part(0, one)),
    list(part(10_001, one)),
    list(part('x', one)),
    list(part('', one)),
    list('<Part><PartNumber>1</PartNumber></Part>'),
    list(`<Part><ETag>${one}</ETag></Part>`),
    list(`<Part><PartNumber>1</PartNumber><ETag>${one}</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part>`),
    list(`<Part><PartNumber>1</PartNumber><ETag>${one}</ETag><Other/></Part>`),
    list('<Part/>'),
    list(...Array.from({ length: 10_001 }, (_, index) => part(index + 1, one))),
    ...spoiledDocuments(list(part(1, one))).filter((body) => typeof body !== 'string' || !body.includes('<Part>')),
  ]
  for (const body of bodies) await talk.s3('POST', target, { body })
  const good = list(part(7, `&quot;${two}&quot;`))
  const lines = [
    'x-amz-mp-object-size: 1',
    'x-amz-mp-object-size: x',
    'x-amz-checksum-crc32: AAAAAA==',
    'if-match: "x"',
  ]
  await eachHeader(talk, 'POST', target, [...lines, 'if-none-match: "x"\nif-match: "y"'], { body: good })
  await talk.s3('POST', target, { body: good, headers: [`x-amz-mp-object-size: ${TWO.length}`, 'if-none-match: *'] })
  await talk.s3('POST', target, { body: good })
  await talk.s3('POST', target, { body: list(part(1, one)) })
  await talk.s3('GET', target)
  await talk.s3('DELETE', target)
  await talk.s3('PUT', `${key}?partNumber=1&uploadId=${id}`, { body: ONE })
  for (const method of ['GET', 'HEAD']) {
    await talk.s3(method, key)
    await talk.s3(method, `${key}?partNumber=1`)
    await talk.s3(method, `${key}?partNumber=2`)
  }
  await talk.s3('DELETE', key)
  await talk.s3('POST', target, { body: good })
}

async function spoiledLists(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const good = list(part(1, md5(ONE)))
  for (const [index, body] of spoiledDocuments(good).entries()) {
    const key = `/${talk.bucket}/key-${index}`
    const id = await begin(talk, key)
    await talk.s3('PUT', `${key}?partNumber=1&uploadId=${id}`, { body: ONE })
    await talk.s3('POST', `${key}?uploadId=${id}`, { body })
  }
}

async function largeParts(talk: Talk): Promise<void> {
  await makeBucket(talk)
  await setVersioning(talk, 'Enabled')
  const key = `/${talk.bucket}/large`
  const large = Buffer.alloc(FIVE_MEBIBYTES, 'large ')
  const id = await begin(talk, key)
  await talk.s3('PUT', `${key}?partNumber=3&uploadId=${id}`, { body: large })
  await talk.s3('PUT', `${key}?partNumber=9&uploadId=${id}`, { body: 'end' })
  const body = list(part(3, `"${md5(large)}"`), part(9, `"${md5('end')}"`))
  await talk.s3('POST', `${key}?uploadId=${id}`, { body })
  await talk.s3('POST', `${key}?uploadId=${id}`, { body })
  await talk.s3('HEAD', key)
  await eachQuery(talk, 'GET', key, ['partNumber=2', 'partNumber=3'])
  await eachQuery(talk, 'HEAD', key, ['partNumber=1', 'partNumber=2'])
  await eachHeader(talk, 'GET', key, ['range: bytes=-5', `range: bytes=${FIVE_MEBIBYTES - 3}-`, 'range: bytes=0-4'])
  await talk.s3('PUT', `/${talk.bucket}/copy`, { headers: [`x-amz-copy-source: ${talk.bucket}/large`] })
  await talk.s3('HEAD', `/${talk.bucket}/copy?partNumber=2`)
}

async function listUploads(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}?uploads`
  await talk.s3('GET', target)
  const ids: string[] = []
  for (const key of ['a', 'a', 'a/1', 'a/2', 'b', 'c%01', '%C3%A4'])
    ids.push(await begin(talk, `/${talk.bucket}/${key}`))
  const queries = [
    '',
    'prefix=a',
    'prefix=a/&delimiter=/',
    'delimiter=/',
    'delimiter=/&max-uploads=1',
    'max-uploads=2',
    'key-marker=a',
    `key-marker=a&upload-id-marker=${ids[0]}`,
    `key-marker=a&upload-id-marker=${ids[1]}`,
    `key-marker=b&upload-id-marker=${ids[0]}`,
    `upload-id-marker=${ids[0]}`,
    'key-marker=a&upload-id-marker=x',
    'key-marker=a&upload-id-marker=a%20b',
    'key-marker=zzz',
    'encoding-type=url',
    'encoding-type=x',
    'prefix=none',
    'versions',
    ...ODD_NUMBERS.map((number) => `max-uploads=${number}`),
  ]
  for (const query of queries) await talk.s3('GET', `${target}&${query}`)
  let next = ''
  for (let pages = 0; pages < 10; pages += 1) {
    const page = await talk.s3('GET', `${target}&max-uploads=2&encoding-type=url${next}`)
    if (page.element('IsTruncated') !== 'true') break
    next = `&key-marker=${page.element('NextKeyMarker')}&upload-id-marker=${page.element('NextUploadIdMarker')}`
  }
}

export const MULTIPART_BLOCKS: readonly Block[] = [
  { name: 's3-parts', run: parts },
  { name: 's3-completion', run: completion },
  { name: 's3-spoiled-lists', run: spoiledLists },
  { name: 's3-large-parts', run: largeParts },
  { name: 's3-list-uploads', run: listUploads },
]
