/** Good requests with something changed by chance, the same chance in every run. */
import type { Block } from '../block.ts'
import type { Random } from '../random.ts'
import type { S3Ask } from '../asking.ts'
import type { Talk } from '../talk.ts'
import { makeBucket, setVersioning, versioning } from './helpers.ts'

interface Base {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: readonly string[]
  readonly body: string
}

const base = (method: string, path: string, query = '', headers: readonly string[] = [], body = ''): Base => ({
  method,
  path,
  query,
  headers,
  body,
})

function bases(bucket: string): Base[] {
  const key = `/${bucket}/key`
  return [
    base(
      'PUT',
      key,
      '',
      ['content-type: text/plain', 'x-amz-meta-a: one', 'cache-control: no-cache'],
      'bytes of an object',
    ),
    base('PUT', `/${bucket}/other`, '', ['if-none-match: *'], 'other bytes'),
    base('PUT', `/${bucket}/copy`, '', [`x-amz-copy-source: ${bucket}/key`, 'x-amz-metadata-directive: REPLACE']),
    base('GET', key, '', ['range: bytes=2-5', 'if-match: *']),
    base('GET', key, 'response-content-type=text/html&response-expires=never'),
    base('HEAD', key, 'versionId=null', ['if-none-match: "x"']),
    base('DELETE', `/${bucket}/other`, 'versionId=null', ['if-match: *']),
    base('GET', `/${bucket}`, 'list-type=2&prefix=k&max-keys=3&delimiter=/&encoding-type=url', []),
    base('GET', `/${bucket}`, 'versions&max-keys=2&key-marker=k&prefix=', []),
    base('GET', `/${bucket}`, 'uploads&max-uploads=2&prefix=k'),
    base('PUT', `/${bucket}`, 'versioning', ['content-type: application/xml'], versioning('Enabled')),
    base(
      'PUT',
      `/${bucket}`,
      'cors',
      [],
      '<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>',
    ),
    base('PUT', key, 'legal-hold', [], '<LegalHold><Status>OFF</Status></LegalHold>'),
    base('PUT', key, 'retention', ['x-amz-bypass-governance-retention: true'], '<Retention/>'),
    base('GET', key, 'partNumber=1'),
    base('POST', key, 'uploads', ['content-type: a/b', 'x-amz-meta-b: two']),
    base('OPTIONS', key, '', ['origin: http://a.example', 'access-control-request-method: GET']),
  ]
}

const ODD_VALUES: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '*',
  'x',
  'ä',
  'a,b',
  '"',
  '%00',
  '<a>',
  "'",
  'null',
  'true',
  'A'.repeat(300),
]
const MORE_HEADERS: readonly string[] = [
  'if-match: "x"',
  'if-none-match: *',
  'if-unmodified-since: Sat, 01 Jan 2000 00:00:00 GMT',
  'if-modified-since: Sat, 01 Jan 2095 00:00:00 GMT',
  'range: bytes=0-0',
  'x-amz-acl: public-read',
  'x-amz-meta-new: 1',
  'x-amz-object-lock-legal-hold: ON',
  'x-amz-checksum-crc32: AAAAAA==',
  'x-amz-copy-source: none/none',
  'x-amz-storage-class: STANDARD',
  'content-md5: AAAAAAAAAAAAAAAAAAAAAA==',
  'content-encoding: aws-chunked',
  'origin: http://a.example',
  'expect: 100-continue',
  'x-amz-request-payer: requester',
]
const MORE_QUERIES: readonly string[] = [
  'versionId=null',
  'partNumber=1',
  'acl',
  'tagging',
  'uploads',
  'x-id=A',
  'uploadId=x',
  '=',
  '%zz',
  'a=%FF',
  'versions',
  'x-amz-acl=private',
  'delete',
]
const MARKS: readonly string[] = [
  '<',
  '>',
  '&',
  '"',
  ' ',
  '\n',
  '\u0000',
  'ä',
  '/',
  '<a/>',
  '&amp;',
  '&#65;',
  '1',
  'Enabled',
]

function splice(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const length = random.below(4)
  return text.slice(0, at) + (random.once(3) ? '' : random.pick(MARKS)) + text.slice(at + length)
}

type Mutation = (random: Random, base: Base) => Base

function inHeaders(change: (lines: string[], random: Random) => readonly string[]): Mutation {
  return (random, from) => ({ ...from, headers: change([...from.headers], random) })
}

function inQuery(change: (pieces: string[], random: Random) => readonly string[]): Mutation {
  return (random, from) => ({
    ...from,
    query: change(from.query === '' ? [] : from.query.split('&'), random).join('&'),
  })
}

const valueChanged = (text: string, mark: string, random: Random) =>
  `${text.slice(0, text.indexOf(mark) + 1 || text.length)}${mark === ':' ? ' ' : ''}${random.pick(ODD_VALUES)}`

const MUTATIONS: readonly Mutation[] = [
  inHeaders((lines, random) => [...lines, random.pick(MORE_HEADERS)]),
  inHeaders((lines, random) => [...lines, random.pick(MORE_HEADERS)]),
  inHeaders((lines, random) => (lines.length === 0 ? lines : [...lines, random.pick(lines)])),
  inHeaders((lines, random) => lines.map((line) => (random.once(2) ? line : valueChanged(line, ':', random)))),
  inHeaders((lines) => lines.slice(1)),
  inHeaders((lines) => lines.map((line) => line.toUpperCase())),
  inQuery((pieces, random) => [...pieces, random.pick(MORE_QUERIES)]),
  inQuery((pieces, random) => (pieces.length === 0 ? pieces : [...pieces, random.pick(pieces)])),
  inQuery((pieces, random) => pieces.map((piece) => (random.once(2) ? piece : encodeValue(piece, random)))),
  inQuery((pieces) => pieces.slice(1)),
  inQuery((pieces) => pieces.toReversed()),
  (random, from) => ({ ...from, method: random.pick(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) }),
  (random, from) => ({
    ...from,
    path: `${from.path}${random.pick(['/', '//', '%20', '%2F', '/../x', '%FF', '?', '/none'])}`,
  }),
  (random, from) => ({
    ...from,
    path: from.path.replace('-bucket', random.pick(['-other', '', '%2Dbucket', '-BUCKET'])),
  }),
  (random, from) => ({ ...from, body: splice(random, from.body) }),
  (random, from) => ({ ...from, body: splice(random, splice(random, from.body)) }),
]

function encodeValue(piece: string, random: Random): string {
  const [name = ''] = piece.split('=')
  return `${name}=${encodeURIComponent(random.pick(ODD_VALUES))}`
}

const ROUNDS = 300

async function mutations(talk: Talk, versioned: string): Promise<void> {
  const { random } = talk
  await makeBucket(talk, talk.bucket, versioned === 'lock')
  if (versioned === 'Enabled') await setVersioning(talk, 'Enabled')
  await talk.s3('PUT', `/${talk.bucket}/key`, { body: 'bytes of an object' })
  const all = bases(talk.bucket)
  for (let round = 0; round < ROUNDS; round += 1) {
    let one = random.pick(all)
    for (let count = 1 + random.below(3); count > 0; count -= 1) one = random.pick(MUTATIONS)(random, one)
    const target = one.query === '' ? one.path : `${one.path}?${one.query}`
    const ask: S3Ask = { headers: one.headers, ...(one.body === '' ? {} : { body: one.body }) }
    const how = random.below(12)
    if (how === 0) await talk.s3(one.method, target, { ...ask, presign: '60' })
    else if (how === 1) await talk.s3(one.method, target, { ...ask, as: null })
    else if (how === 2) await talk.s3(one.method, target, { ...ask, headers: [], unsigned: one.headers })
    else await talk.s3(one.method, target, ask)
  }
}

export const MUTATION_BLOCKS: readonly Block[] = [
  { name: 's3-mutations', run: (talk) => mutations(talk, '') },
  { name: 's3-mutations-versioned', run: (talk) => mutations(talk, 'Enabled') },
  { name: 's3-mutations-locked', run: (talk) => mutations(talk, 'lock') },
]
