/**
 * Signatures: presigned and in headers, good, bad, late and early, and credentials that are none.
 * Proves: DO-NOT-20, AUT-MGT-08, AUT-S3P-01.
 */
import type { Block } from '../block.ts'
import type { Line } from '../asking.ts'
import { ROOT } from '../server.ts'
import type { S3Ask } from '../asking.ts'
import type { Talk } from '../talk.ts'
import { eachHeader, makeBucket } from './helpers.ts'

const HOUR = 3600

type Edit = (value: string) => string | undefined

/** Changes one header line after it was signed; undefined takes it away. */
const edit =
  (name: string, change: Edit) =>
  (lines: readonly Line[]): Line[] =>
    lines.flatMap((line): Line[] => {
      if (line[0] !== name) return [line]
      const value = change(line[1])
      return value === undefined ? [] : [[name, value]]
    })

const AUTHORIZATIONS: readonly Edit[] = [
  () => undefined,
  () => '',
  () => 'AWS4-HMAC-SHA256',
  () => 'AWS key:signature',
  () => 'AWS4-ECDSA-P256-SHA256 Credential=a',
  () => 'Basic YTpi',
  () => 'Bearer token',
  () => 'nothing',
  (value) => value.replace('AWS4-HMAC-SHA256', 'aws4-hmac-sha256'),
  (value) => value.replace('AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA512'),
  (value) => value.replace(',SignedHeaders', ', SignedHeaders'),
  (value) => value.replaceAll(',', ' '),
  (value) => value.replace(/,Signature=.*/, ''),
  (value) => value.replace(/Credential=[^,]*,/, ''),
  (value) => value.replace(/SignedHeaders=[^,]*,/, ''),
  (value) => value.replace(/SignedHeaders=[^,]*,/, 'SignedHeaders=,'),
  (value) => `${value},Other=1`,
  (value) => `${value},Signature=00`,
  (value) => value.replace('Credential=', 'Credential'),
  (value) => value.replace(/Signature=.*/, 'Signature='),
  (value) => value.replace(/Signature=.*/, 'Signature=zz'),
  (value) => value.replace(/Signature=.*/, `Signature=${'0'.repeat(64)}`),
  (value) => value.replace(/Signature=(.*)/, (_, text: string) => `Signature=${text.toUpperCase()}`),
  (value) => value.replace(/Signature=(.*)/, (_, text: string) => `Signature=${text.slice(1)}`),
  (value) => value.replace('aws4_request', 'aws4_other'),
  (value) => value.replace('/s3/', '/iam/'),
  (value) => value.replace('us-east-1', 'eu-west-1'),
  (value) => value.replace('us-east-1', ''),
  (value) => value.replace(ROOT.accessKey, 'unknownkey'),
  (value) => value.replace(ROOT.accessKey, ''),
  (value) => value.replace(ROOT.accessKey, 'with/slash'),
  (value) => value.replace(ROOT.accessKey, 'k'.repeat(300)),
  (value) => value.replace(/\/\d{8}\//, '/20000101/'),
  (value) => value.replace(/\/\d{8}\//, '//'),
  (value) => value.replace('SignedHeaders=host;', 'SignedHeaders='),
  (value) => value.replace('host;', 'Host;'),
  (value) => value.replace('host;', 'host;host;'),
  (value) => value.replace('host;', 'host;other;'),
  (value) => value.replace('host;', 'host; '),
]

async function headers(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  await talk.s3('PUT', target, { body: 'b' })
  for (const change of AUTHORIZATIONS) {
    await talk.s3('GET', target, { spoil: edit('authorization', change) })
    await talk.s3('PUT', `${target}-2`, { body: 'b', spoil: edit('authorization', change) })
  }
  const dates: readonly Edit[] = [
    () => undefined,
    () => '',
    () => 'x',
    () => '20260231T000000Z',
    (value) => value.replace('Z', ''),
    (value) => value.toLowerCase(),
    () => '20000101T000000Z',
    () => 'Sat, 01 Jan 2000 00:00:00 GMT',
  ]
  for (const change of dates) await talk.s3('GET', target, { spoil: edit('x-amz-date', change) })
  const digests: readonly Edit[] = [
    () => undefined,
    () => '',
    () => 'x',
    () => 'UNSIGNED-PAYLOAD',
    () => 'a'.repeat(64),
  ]
  for (const change of digests) await talk.s3('GET', target, { spoil: edit('x-amz-content-sha256', change) })
  await talk.s3('GET', target, { spoil: edit('host', () => 'elsewhere') })
  await talk.s3('GET', target, { spoil: (lines) => lines.filter(([name]) => name !== 'host'), fresh: true })
  for (const skew of [-800, 800, -1000, 1000, -HOUR, HOUR, -30 * 24 * HOUR, 400 * 24 * HOUR]) {
    await talk.s3('GET', target, { skew })
    await talk.s3('DELETE', target, { skew })
  }
  for (const region of ['eu-west-1', 'aws-global', 'x', 'us-east-1a']) await talk.s3('GET', target, { region })
  for (const service of ['iam', 'S3', 's3express']) await talk.s3('GET', target, { service })
  await unsignedHeaders(talk, target)
}

/** What steers a request has to be signed. */
async function unsignedHeaders(talk: Talk, target: string): Promise<void> {
  const lines = [
    'x-amz-meta-a: 1',
    'x-amz-acl: private',
    'x-amz-copy-source: a/b',
    'x-amz-object-lock-legal-hold: ON',
    'x-amz-other: 1',
    'content-type: text/plain',
    'content-md5: AAAA',
    'if-match: "x"',
    'range: bytes=0-0',
    'date: Sat, 01 Jan 2000 00:00:00 GMT',
    'origin: http://a.example',
    'user-agent: answers',
  ]
  for (const line of lines) {
    await talk.s3('PUT', target, { body: 'b', unsigned: [line] })
    await talk.s3('GET', target, { unsigned: [line] })
    await talk.s3('GET', target, { unsigned: [line], presign: '60' })
  }
  await talk.s3('PUT', target, { body: 'b', retarget: (text) => `${text}?x-amz-meta-q=1` })
  await talk.s3('GET', target, { retarget: (text) => `${text}-2` })
  await talk.s3('GET', target, { retarget: (text) => `${text}?versionId=null` })
  const other = { ...ROOT, name: 'root with another secret', secretKey: 'not the secret key' }
  const unknown = { ...ROOT, name: 'an unknown key', accessKey: 'unknown' }
  for (const as of [other, unknown, null]) {
    for (const method of ['GET', 'PUT', 'HEAD', 'DELETE', 'POST']) await talk.s3(method, target, { as })
    await talk.s3('GET', '/', { as })
    await talk.s3('GET', target, { as, presign: '60' })
  }
}

const PARAMETERS: readonly string[] = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature']

async function presigned(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  await talk.s3('PUT', target, { body: 'b', presign: '60' })
  for (const method of ['GET', 'HEAD', 'DELETE', 'POST']) await talk.s3(method, target, { presign: '60' })
  await talk.s3('PUT', target, { body: 'b' })
  const spans = ['1', '604800', '604801', '0', '-1', '', 'x', '1.5', '+60', '060', '99999999999999999999999', ' 60']
  for (const presign of spans) await talk.s3('GET', target, { presign })
  for (const skew of [-HOUR, HOUR, -800, 800, 1000]) await talk.s3('GET', target, { presign: '60', skew })
  await talk.s3('GET', target, { presign: '604800', skew: -HOUR })
  for (const name of PARAMETERS) {
    const pattern = new RegExp(`&?X-Amz-${name}=[^&]*`)
    const changes: ((text: string) => string)[] = [
      (text) => text.replace(pattern, ''),
      (text) => text.replace(pattern, `&X-Amz-${name}=`),
      (text) => text.replace(pattern, `&X-Amz-${name}=x`),
      (text) => `${text}&X-Amz-${name}=x`,
      (text) => text.replace(`X-Amz-${name}`, `x-amz-${name.toLowerCase()}`),
      (text) => text.replace(pattern, (part) => `${part}${part.startsWith('&') ? part : `&${part}`}`),
    ]
    for (const change of changes) await talk.s3('GET', target, { presign: '60', retarget: change })
  }
  const asks: readonly S3Ask[] = [
    { headers: ['x-amz-meta-a: 1'] },
    { headers: ['content-type: text/plain'] },
    { headers: ['x-amz-content-sha256: UNSIGNED-PAYLOAD'] },
    { headers: [`x-amz-content-sha256: ${'a'.repeat(64)}`], payload: 'a'.repeat(64) },
    { unsigned: ['authorization: AWS4-HMAC-SHA256 Credential=a'] },
    { unsigned: ['authorization:'] },
    { region: 'eu-west-1' },
    { service: 'iam' },
  ]
  for (const ask of asks) await talk.s3('PUT', target, { ...ask, presign: '60', body: 'b' })
  for (const query of [
    'AWSAccessKeyId=a&Signature=b&Expires=1',
    'X-Amz-Algorithm=a',
    'X-Amz-Signature=a',
    'Signature=a',
  ]) {
    await talk.s3('GET', `${target}?${query}`, { as: null })
    await talk.s3('GET', `${target}?${query}`)
  }
  const contradictions = [
    'x-amz-meta-a=1',
    'X-Amz-Meta-A=2',
    'x-amz-checksum-crc32=AAAAAA%3D%3D',
    'x-amz-acl=public-read',
  ]
  for (const query of contradictions) {
    await talk.s3('PUT', `${target}?${query}`, { presign: '60', body: 'b', headers: ['x-amz-meta-a: 1'] })
  }
}

async function hosts(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  await talk.s3('PUT', target, { body: 'b' })
  const names = [
    'localhost',
    'localhost:1234',
    'LOCALHOST',
    's3.amazonaws.com',
    `${talk.bucket}.s3.amazonaws.com`,
    `${talk.bucket}.localhost:7600`,
    `${talk.bucket.toUpperCase()}.localhost`,
    `${talk.bucket}.`,
    `.${talk.bucket}`,
    '[::1]',
    '[::1]:7600',
    '127.0.0.1',
    '',
    'a b',
    'a,b',
    'ä.example',
    `${'a.'.repeat(200)}example`,
  ]
  for (const host of names) {
    await talk.s3('GET', target, { host })
    await talk.s3('GET', '/key', { host })
    await talk.s3('GET', '/?prefix=none', { host })
    await talk.s3('PUT', '/key', { host, body: 'b' })
    await talk.s3('HEAD', `/${talk.bucket}`, { host, as: null })
    await talk.s3('POST', `${target}?uploads`, { host })
  }
  await talk.s3('DELETE', '/key')
  await eachHeader(talk, 'GET', target, ['x-forwarded-host: a', 'x-forwarded-for: 1.2.3.4', 'forwarded: for=1.2.3.4'])
}

export const SIGNATURE_BLOCKS: readonly Block[] = [
  { name: 's3-signatures', run: headers },
  { name: 's3-presigned', run: presigned },
  { name: 's3-hosts', run: hosts },
]
