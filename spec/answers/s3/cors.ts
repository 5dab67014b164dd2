/**
 * CORS: the configuration, preflights, and what the answers to other requests with an Origin carry.
 * Proves: DO-CAP-09, DO-CAP-10.
 */
import type { S3Ask } from '../asking.ts'
import type { Block } from '../block.ts'
import { ROOT } from '../server.ts'
import type { Talk } from '../talk.ts'
import { makeBucket, spoiledDocuments } from './helpers.ts'

const configuration = (...rules: readonly string[]) =>
  `<CORSConfiguration>${rules.map((rule) => `<CORSRule>${rule}</CORSRule>`).join('')}</CORSConfiguration>`
const origin = (text: string) => `<AllowedOrigin>${text}</AllowedOrigin>`
const method = (text: string) => `<AllowedMethod>${text}</AllowedMethod>`
const header = (text: string) => `<AllowedHeader>${text}</AllowedHeader>`
const exposed = (text: string) => `<ExposeHeader>${text}</ExposeHeader>`
const age = (text: string) => `<MaxAgeSeconds>${text}</MaxAgeSeconds>`

const ONE = `${origin('http://one.example')}${method('GET')}`

const GOOD: readonly string[] = [
  configuration(ONE),
  configuration(`${origin('*')}${method('GET')}${method('PUT')}${header('*')}`),
  configuration(
    `<ID>first</ID>${origin('https://*.one.example')}${method('PUT')}${header('x-amz-*')}${exposed('etag')}${age('60')}`,
    `${origin('http://two.example')}${origin('null')}${method('DELETE')}${method('HEAD')}${header('Content-Type')}${age('0')}`,
    `${origin('http://one.example')}${method('POST')}${exposed('x-amz-version-id')}${exposed('date')}`,
  ),
]

const BAD: readonly string[] = [
  '<CORSConfiguration/>',
  configuration(''),
  configuration(origin('*')),
  configuration(method('GET')),
  configuration(`${origin('')}${method('GET')}`),
  configuration(`${origin('a b')}${method('GET')}`),
  configuration(`${origin('*.*')}${method('GET')}`),
  configuration(`${origin('a,b')}${method('GET')}`),
  configuration(`${origin('ä')}${method('GET')}`),
  ...['get', 'PATCH', 'OPTIONS', '*', ''].map((name) => configuration(`${origin('*')}${method(name)}`)),
  ...['', 'a b', 'x-*-*', 'x:y', 'ä'].map((name) => configuration(`${ONE}${header(name)}`)),
  ...['', 'a b', 'x-*', '*'].map((name) => configuration(`${ONE}${exposed(name)}`)),
  ...['', '-1', '1.5', 'x', '2147483647', '2147483648', '1e3'].map((text) => configuration(`${ONE}${age(text)}`)),
  configuration(`${ONE}${age('1')}${age('2')}`),
  configuration(`<ID>${'i'.repeat(255)}</ID>${ONE}`),
  configuration(`<ID>${'i'.repeat(256)}</ID>${ONE}`),
  configuration(`<ID>a</ID><ID>b</ID>${ONE}`),
  configuration(`${ONE}<Unknown/>`),
  configuration(...Array.from({ length: 100 }, () => ONE)),
  configuration(...Array.from({ length: 101 }, () => ONE)),
  configuration(...Array.from({ length: 90 }, (_, index) => `${ONE}${header(`x-${index}-${'h'.repeat(300)}`)}`)),
]

const ORIGINS: readonly string[] = [
  'http://one.example',
  'http://ONE.example',
  'https://a.one.example',
  'https://.one.example',
  'https://one.example',
  'http://two.example',
  'null',
  '*',
  '',
  'http://a b',
  'http://one.example, http://two.example',
]

async function ask(talk: Talk, bucket: string): Promise<void> {
  const { random } = talk
  for (const each of ORIGINS) {
    const headers = [`origin: ${each}`]
    for (const wanted of ['GET', random.pick(['PUT', 'DELETE', 'HEAD']), random.pick(['get', '', 'POST'])]) {
      const all = wanted === '' ? headers : [...headers, `access-control-request-method: ${wanted}`]
      const lists = ['', 'x-amz-date', 'X-Amz-Meta-A, content-type', 'authorization', 'a b', ',,', '*']
      const list = random.pick(lists)
      const more = list === '' ? all : [...all, `access-control-request-headers: ${list}`]
      await talk.s3('OPTIONS', `/${bucket}/key`, { as: null, headers: more })
      if (random.once(3)) await talk.s3('OPTIONS', `/${bucket}?cors&versionId=1`, { as: null, headers: more })
      if (random.once(4)) await talk.s3('OPTIONS', `/${bucket}`, { headers: more })
    }
    await talk.s3('GET', `/${bucket}/key`, { headers })
    await talk.s3('HEAD', `/${bucket}/none`, { headers })
    await talk.s3('PUT', `/${bucket}/key`, { headers, body: 'b' })
    await talk.s3('GET', `/${bucket}/key`, { headers, as: null })
    await talk.s3('DELETE', `/${bucket}/none`, { headers, skew: 7200 })
  }
}

/** Answers of every kind with an origin that a rule fits, those of a body that is sent in pieces too. */
async function everyAnswer(talk: Talk): Promise<void> {
  const { bucket } = talk
  const headers = ['origin: http://one.example']
  const key = `/${bucket}/key`
  const large = `/${bucket}/large`
  const send = (verb: string, target: string, more: readonly string[] = [], rest: S3Ask = {}) =>
    talk.s3(verb, target, { ...rest, headers: [...headers, ...more] })
  await send('PUT', large, [], { body: Buffer.alloc(300_000, 'ab') })
  for (const line of ['range: bytes=0-0', 'range: bytes=99-', 'if-none-match: *', 'if-match: "x"'])
    await send('GET', key, [line])
  for (const verb of ['GET', 'HEAD']) await send(verb, large)
  await send('GET', large, ['range: bytes=70000-200000'])
  for (const query of ['list-type=2', 'acl', 'location']) await send('GET', `/${bucket}?${query}`)
  await send('HEAD', `/${bucket}`)
  await send('POST', key)
  await send('PUT', key, ['content-md5: x'])
  await send('GET', key, [], { as: { ...ROOT, name: 'root with another secret', secretKey: 'x' } })
  await send('GET', key, [], { presign: '60' })
  await send('GET', key, [], { presign: '60', skew: -7200 })
  await send('GET', key, ['origin: http://two.example'])
  await send('GET', '/?prefix=none')
  const begun = await send('POST', `${key}?uploads`)
  const upload = `${key}?uploadId=${begun.element('UploadId')}`
  await send('PUT', `${upload}&partNumber=1`, [], { body: 'part' })
  await send('GET', upload)
  await send('POST', upload, [], { body: '<CompleteMultipartUpload/>' })
  await send('DELETE', upload)
  const wanted = ['access-control-request-method: GET']
  await send('OPTIONS', key, [...wanted, 'origin: http://one.example'], { as: null })
  await send('OPTIONS', key, wanted, { as: { ...ROOT, name: 'root with another secret', secretKey: 'x' } })
  await send('OPTIONS', key, wanted, { presign: '60', skew: -7200 })
  await send('OPTIONS', '/key', wanted, { as: null, host: `${bucket}.example` })
}

async function cors(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}?cors`
  await talk.s3('GET', target)
  await ask(talk, talk.bucket)
  for (const body of GOOD) {
    await talk.s3('PUT', target, { body })
    await talk.s3('GET', target)
    await ask(talk, talk.bucket)
  }
  await talk.s3('PUT', target, { body: GOOD[0] ?? '' })
  await everyAnswer(talk)
  await talk.s3('DELETE', target)
  await talk.s3('DELETE', target)
  await talk.s3('GET', target)
  const names = Array.from({ length: 101 }, (_, index) => `x-${index}`).join(',')
  await talk.s3('PUT', target, { body: GOOD[1] ?? '' })
  const headers = ['origin: http://a', 'access-control-request-method: PUT', `access-control-request-headers: ${names}`]
  await talk.s3('OPTIONS', `/${talk.bucket}`, { as: null, headers })
  for (const path of ['/', '/%zz', `/${talk.bucket}/${'k'.repeat(1025)}`, `/${talk.bucket}%2Fkey`, '//', '*']) {
    await talk.s3('OPTIONS', path, { as: null, headers: headers.slice(0, 2), fresh: true })
  }
}

async function corsDocuments(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}?cors`
  for (const body of [...BAD, ...spoiledDocuments(configuration(ONE))]) {
    const answer = await talk.s3('PUT', target, { body })
    if (answer.status === 200) await talk.s3('GET', target)
  }
  await talk.s3('PUT', target, { body: `<CORSConfiguration>${' '.repeat(70_000)}</CORSConfiguration>` })
  for (const name of ['GET', 'PUT', 'DELETE']) await talk.s3(name, `/${talk.bucket}-none?cors`, { body: GOOD[0] ?? '' })
}

export const CORS_BLOCKS: readonly Block[] = [
  { name: 's3-cors', run: cors },
  { name: 's3-cors-documents', run: corsDocuments },
]
