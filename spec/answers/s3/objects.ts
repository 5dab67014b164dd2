/**
 * Objects: their keys, what is stored beside their bytes, headers that are refused, and ways to send a body.
 * Proves: DO-CAP-11, DO-CAP-12, DO-CAP-14, DO-NOT-06, DO-NOT-08, DO-NOT-10, DO-NOT-15, RES-OBJ-06, STA-OBJ-02.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachHeader, eachQuery, makeBucket } from './helpers.ts'

const KEYS: readonly string[] = [
  'plain',
  'with/slashes/in/it',
  '/slash-first',
  '//two',
  'two//slashes',
  'slash-last/',
  '.',
  '..',
  '../up',
  'a/../b',
  'a/./b',
  '%2e%2e%2fup',
  'plus+plus',
  'blank%20blank',
  'percent%25',
  'question%3Fmark',
  'hash%23',
  'amp%26',
  'quote%22',
  "apostrophe'",
  'less%3Cgreater%3E',
  'back%5Cslash',
  'tilde~bang!star*paren()',
  'comma,semi;colon:at@dollar$equals=',
  '%C3%A4%C3%B6',
  '%E2%82%AC',
  '%F0%9F%98%80',
  '%c3%a4',
  '%FF',
  '%C3',
  '%ED%A0%80',
  '%00',
  'null%00inside',
  '%01%02%1F',
  '%0Aline',
  '%0D%0A',
  '%7F',
  '%C2%85',
  '%EF%BF%BE',
  '%zz',
  '%1',
  '%',
  'k'.repeat(1024),
  'k'.repeat(1025),
  '%C3%A4'.repeat(512),
  '%C3%A4'.repeat(513),
  'pipe|pipe',
  'brace{}bracket[]caret^grave`',
]

async function keys(talk: Talk): Promise<void> {
  await makeBucket(talk)
  for (const key of KEYS) {
    const target = `/${talk.bucket}/${key}`
    await talk.s3('PUT', target, { body: key.slice(0, 20) })
    await talk.s3('GET', target)
    await talk.s3('HEAD', target)
  }
  await eachQuery(talk, 'GET', `/${talk.bucket}`, ['list-type=2', 'list-type=2&encoding-type=url', 'versions'])
  for (const key of KEYS) await talk.s3('DELETE', `/${talk.bucket}/${key}`)
}

const METADATA: readonly string[] = [
  'x-amz-meta-a: one',
  'X-Amz-Meta-Upper: Value',
  'x-amz-meta-a: one\nx-amz-meta-a: two',
  'x-amz-meta-b: 1\nx-amz-meta-a: 2\nx-amz-meta-c: 3',
  'x-amz-meta-empty:',
  'x-amz-meta-: nameless',
  'x-amz-meta-blanks:    two  blanks  ',
  'x-amz-meta-tab: a\tb',
  'x-amz-meta-utf: äöü€',
  'x-amz-meta-word: =?UTF-8?B?w6Q=?=',
  'x-amz-meta-bad_name: x',
  'x-amz-meta-__proto__: x',
  'x-amz-meta-delete: a\u007fb',
  `x-amz-meta-long: ${'x'.repeat(2000)}`,
  `x-amz-meta-l: ${'x'.repeat(2047)}`,
  `x-amz-meta-l: ${'x'.repeat(2048)}`,
  `x-amz-meta-longer: ${'x'.repeat(4000)}`,
  'x-amz-missing-meta: 1',
  'cache-control: no-cache',
  'cache-control: no-cache\ncache-control: max-age=5',
  'content-disposition: attachment; filename="ä.txt"',
  'content-disposition: a\ncontent-disposition: b',
  'content-encoding: gzip',
  'content-encoding: gzip, aws-chunked',
  'content-encoding: aws-chunked',
  'content-encoding: identity',
  'content-language: de, en',
  'content-type: text/html; charset=utf-8',
  'content-type:',
  'content-type: a\ncontent-type: b',
  'content-type: not a type',
  'content-type: <script>',
  'expires: Thu, 01 Jan 2015 00:00:00 GMT',
  'expires: never',
  'expires: 1\nexpires: 2',
]

async function metadata(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  for (const lines of METADATA) {
    await talk.s3('PUT', target, { headers: lines.split('\n'), body: 'b' })
    await talk.s3('GET', target)
    await talk.s3('HEAD', target)
  }
  await talk.s3('PUT', `${target}?x-amz-meta-q=query`, { presign: '60', body: 'b' })
  await talk.s3('HEAD', target)
  await talk.s3('PUT', `${target}?x-amz-meta-q=query`, { presign: '60', headers: ['x-amz-meta-q: header'], body: 'b' })
  await talk.s3('PUT', `${target}?x-amz-meta-q=query&x-amz-meta-q=two`, { presign: '60', body: 'b' })
  const many = Array.from({ length: 60 }, (_, index) => `x-amz-meta-${index}: ${index}`)
  await talk.s3('PUT', target, { headers: many, body: 'b' })
  await talk.s3('HEAD', target)
}

const REFUSED: readonly string[] = [
  'x-amz-acl: private',
  'x-amz-acl: PRIVATE',
  'x-amz-acl: public-read',
  'x-amz-grant-full-control: id=1',
  'x-amz-grant-read: id=1',
  'x-amz-object-ownership: BucketOwnerEnforced',
  'x-amz-tagging: a=b',
  'x-amz-tagging-directive: COPY',
  'x-amz-tagging-directive: REPLACE',
  'x-amz-tagging-directive: OTHER',
  'x-amz-object-annotation-directive: COPY',
  'x-amz-object-annotation-directive: REPLACE',
  'x-amz-server-side-encryption: AES256',
  'x-amz-server-side-encryption-customer-algorithm: AES256',
  'x-amz-server-side-encryption-aws-kms-key-id: k',
  'x-amz-copy-source-server-side-encryption-customer-key: k',
  'x-amz-website-redirect-location: /a',
  'x-amz-storage-class: STANDARD',
  'x-amz-storage-class: GLACIER',
  'x-amz-trailer: x-amz-checksum-crc32',
  'x-amz-decoded-content-length: 5',
  'x-amz-security-token: t',
  'x-amz-mfa: 1 2',
  'x-amz-expected-bucket-owner: 123456789012',
  'x-amz-source-expected-bucket-owner: 123456789012',
  'x-amz-bucket-namespace: n',
  'x-amz-copy-source-range: bytes=0-1',
  'x-amz-write-offset-bytes: 1',
  'x-amz-if-match-size: 1',
  'x-amz-if-match-last-modified-time: x',
  'x-amz-object-lock-mode: GOVERNANCE',
  'x-amz-object-lock-retain-until-date: 2095-01-01T00:00:00Z',
  'x-amz-object-lock-legal-hold: ON',
  'x-amz-object-lock-other: 1',
  'x-amz-bucket-object-lock-enabled: false',
  'x-amz-bucket-object-lock-enabled: true',
  'x-amz-bypass-governance-retention: false',
  'x-amz-bypass-governance-retention: true',
  'x-amz-request-payer: requester',
  'x-amz-unknown: 1',
]

async function refusedHeaders(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const path = `/${talk.bucket}/key`
  await eachHeader(talk, 'PUT', path, REFUSED, { body: 'b' })
  await eachHeader(talk, 'GET', path, REFUSED)
  await eachHeader(talk, 'DELETE', path, REFUSED)
  await eachHeader(talk, 'GET', `/${talk.bucket}?list-type=2`, REFUSED)
  for (const header of REFUSED) {
    const query = header.replace(': ', '=').replaceAll(' ', '%20').replaceAll('/', '%2F')
    await talk.s3('PUT', `${path}?${query}`, { presign: '60', body: 'b' })
  }
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('base64')
}

function crc(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return bytes.toString('base64')
}

const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64')

async function checksums(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const body = 'bytes to be summed'
  const good = [
    `content-md5: ${md5(body)}`,
    `x-amz-checksum-crc32: ${crc(body)}`,
    'x-amz-checksum-crc32c: cKMtFQ==',
    'x-amz-checksum-crc64nvme: y+EJeKFUMvM=',
    `x-amz-checksum-sha1: ${digest('sha1', body)}`,
    `x-amz-checksum-sha256: ${digest('sha256', body)}`,
    `x-amz-checksum-crc32: ${crc(body)}\nx-amz-sdk-checksum-algorithm: CRC32`,
    `x-amz-checksum-crc32: ${crc(body)}\nx-amz-sdk-checksum-algorithm: SHA256`,
    `x-amz-checksum-crc32: ${crc(body)}\nx-amz-checksum-sha1: ${digest('sha1', body)}`,
    `content-md5: ${md5(body)}\nx-amz-checksum-sha256: ${digest('sha256', body)}`,
    'x-amz-sdk-checksum-algorithm: CRC32',
    'x-amz-checksum-algorithm: CRC32',
    'x-amz-checksum-type: FULL_OBJECT',
    'x-amz-checksum-mode: ENABLED',
  ]
  const names = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256', 'md5', 'sha512', 'xxhash64', '']
  const bad = names.flatMap((name) =>
    ['', 'x', 'AAAA', 'AAAAAA==', 'AAAAAAAAAAA=', 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=', `${'A'.repeat(43)}=`].map(
      (value) => `x-amz-checksum-${name}: ${value}`,
    ),
  )
  const badMd5 = ['', 'x', md5('other'), `${md5(body)}=`, md5(body).replace('=', ''), 'A'.repeat(32)]
  const all = [...good, ...bad, ...badMd5.map((value) => `content-md5: ${value}`)]
  await eachHeader(talk, 'PUT', `/${talk.bucket}/key`, all, { body })
  await talk.s3('HEAD', `/${talk.bucket}/key`, { headers: ['x-amz-checksum-mode: ENABLED'] })
  const document = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
  const some = [...good, ...bad.slice(0, 14), `content-md5: ${md5(document)}`, `x-amz-checksum-crc32: ${crc(document)}`]
  await eachHeader(talk, 'PUT', `/${talk.bucket}?versioning`, some, { body: document })
}

async function bodies(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  const digests = ['UNSIGNED-PAYLOAD', 'unsigned-payload', 'x', '', 'A'.repeat(64), 'a'.repeat(64), 'a'.repeat(63)]
  const streaming = ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', 'STREAMING-']
  for (const payload of [...digests, ...streaming]) {
    await talk.s3('PUT', target, { payload, body: 'bytes' })
    await talk.s3('PUT', target, {
      payload,
      body: 'bytes',
      presign: '60',
      headers: [`x-amz-content-sha256: ${payload}`],
    })
    await talk.s3('PUT', `/${talk.bucket}?versioning`, { payload, body: '<a/>' })
    await talk.s3('GET', target, { payload })
  }
  for (const length of ['none', '', '-1', '+5', '5x', '0x5', '05', '1e1', '5, 5', '9999999999999999', '5368709121']) {
    await talk.s3('PUT', target, { body: 'bytes', length, fresh: true, payload: 'UNSIGNED-PAYLOAD' })
  }
  await talk.s3('PUT', target, { body: 'bytes', chunked: true, payload: 'UNSIGNED-PAYLOAD' })
  await talk.s3('PUT', target, { body: 'bytes', chunked: true })
  await talk.s3('PUT', `/${talk.bucket}?versioning`, { body: '<a/>', chunked: true })
  await talk.s3('PUT', target, { body: 'bytes', headers: ['expect: 100-continue'] })
  await talk.s3('PUT', target, { body: 'bytes', headers: ['expect: something'] })
  await talk.s3('PUT', target, { body: '' })
  await talk.s3('GET', target)
  await talk.s3('GET', target, { body: 'a body of a read' })
  await talk.s3('DELETE', target, { body: 'a body of a deletion' })
  for (const size of [1, 65_535, 65_536, 65_537, 300_000]) {
    await talk.s3('PUT', `${target}-${size}`, { body: Buffer.alloc(size, 'ab') })
    await talk.s3('GET', `${target}-${size}`)
    await talk.s3('GET', `${target}-${size}`, { headers: ['range: bytes=-10'] })
  }
}

export const OBJECT_BLOCKS: readonly Block[] = [
  { name: 's3-keys', run: keys },
  { name: 's3-metadata', run: metadata },
  { name: 's3-refused-headers', run: refusedHeaders },
  { name: 's3-checksums', run: checksums },
  { name: 's3-bodies', run: bodies },
]
