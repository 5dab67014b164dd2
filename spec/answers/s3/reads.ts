/**
 * Reads: ranges, parts, conditions and replaced headers; and the conditions of writes.
 * Proves: DO-CAP-08.
 */
import { createHash } from 'node:crypto'
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachHeader, eachQuery, makeBucket, ODD_NUMBERS, setVersioning } from './helpers.ts'

const RANGES: readonly string[] = [
  'bytes=0-0',
  'bytes=0-',
  'bytes=5-9',
  'bytes=9-5',
  'bytes=-3',
  'bytes=-0',
  'bytes=-999',
  'bytes=25-',
  'bytes=26-',
  'bytes=20-999',
  'bytes=999-',
  'bytes=0-1,3-4',
  'bytes=-',
  'bytes=',
  'bytes',
  'BYTES=0-1',
  'bytes = 0-1',
  'bytes=0 - 1',
  'bytes=a-b',
  'items=0-1',
  'bytes=99999999999999999999-',
  'bytes=99999999999999999999-99999999999999999998',
  'bytes=0-99999999999999999999',
  'bytes=0-1\nrange: bytes=2-3',
]

async function ranges(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  await talk.s3('PUT', target, { body: 'abcdefghijklmnopqrstuvwxyz' })
  await talk.s3('PUT', `${target}-empty`)
  const lines = RANGES.map((range) => `range: ${range}`)
  for (const method of ['GET', 'HEAD']) {
    await eachHeader(talk, method, target, lines)
    await eachHeader(talk, method, `${target}-empty`, lines.slice(0, 12))
    await eachHeader(talk, method, `${target}-none`, lines.slice(0, 2))
    await eachQuery(
      talk,
      method,
      target,
      ODD_NUMBERS.map((number) => `partNumber=${number}`),
    )
    await eachQuery(talk, method, `${target}-empty`, ['partNumber=1', 'partNumber=2'])
    await talk.s3(method, `${target}?partNumber=1`, { headers: ['range: bytes=0-1'] })
  }
  await talk.s3('GET', `${target}?partNumber=1&partNumber=2`)
  await talk.s3('PUT', `${target}?partNumber=1`, { body: 'x' })
}

const etagOf = (text: string) => createHash('md5').update(text).digest('hex')
const PAST = 'Sat, 01 Jan 2000 00:00:00 GMT'
const FUTURE = 'Sat, 01 Jan 2095 00:00:00 GMT'
const DATES: readonly string[] = [
  PAST,
  FUTURE,
  'Saturday, 01-Jan-00 00:00:00 GMT',
  'Sat Jan  1 00:00:00 2000',
  '2000-01-01T00:00:00Z',
  'yesterday',
  '',
  'Sat, 30 Feb 2000 00:00:00 GMT',
]

function etagForms(etag: string): string[] {
  return [
    `"${etag}"`,
    etag,
    `W/"${etag}"`,
    '*',
    '"*"',
    '"other"',
    'other',
    `"other", "${etag}"`,
    `"other","more"`,
    '',
    ',',
    '"',
    '""',
    `"${etag.toUpperCase()}"`,
    `"${etag}`,
    `W/${etag}`,
    `*, "${etag}"`,
  ]
}

async function readConditions(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  await talk.s3('PUT', target, { body: 'conditions' })
  const forms = etagForms(etagOf('conditions'))
  const lines = [
    ...forms.flatMap((form) => [`if-match: ${form}`, `if-none-match: ${form}`]),
    ...DATES.flatMap((date) => [`if-modified-since: ${date}`, `if-unmodified-since: ${date}`]),
    `if-match: ${forms[0]}\nif-unmodified-since: ${PAST}`,
    `if-match: "other"\nif-unmodified-since: ${FUTURE}`,
    `if-none-match: ${forms[0]}\nif-modified-since: ${PAST}`,
    `if-none-match: "other"\nif-modified-since: ${FUTURE}`,
    `if-none-match: "other"\nif-match: ${forms[0]}`,
    `if-none-match: ${forms[0]}\nif-match: ${forms[0]}`,
    `if-match: "a"\nif-match: ${forms[0]}`,
    `if-match: ${forms[0]}\nrange: bytes=0-1`,
    `if-range: ${forms[0]}\nrange: bytes=0-1`,
    `if-range: "other"\nrange: bytes=0-1`,
    `if-none-match: ${forms[0]}\nrange: bytes=99-`,
    `if-match: "other"\nrange: bytes=99-`,
  ]
  for (const method of ['GET', 'HEAD']) await eachHeader(talk, method, target, lines)
  await eachHeader(talk, 'GET', `${target}-none`, lines.slice(0, 10))
}

async function writeConditions(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  const there = etagForms(etagOf('b'))
  const lines = [
    ...there.flatMap((form) => [`if-match: ${form}`, `if-none-match: ${form}`]),
    `if-match: ${there[0]}\nif-none-match: *`,
    `if-unmodified-since: ${FUTURE}`,
    `if-modified-since: ${PAST}`,
    `if-match: ${there[0]}\nif-unmodified-since: ${FUTURE}`,
  ]
  const copy = [`x-amz-copy-source: ${talk.bucket}/source`]
  await talk.s3('PUT', `/${talk.bucket}/source`, { body: 'b' })
  for (const status of ['', 'Enabled', 'Suspended']) {
    if (status !== '') await setVersioning(talk, status)
    for (const line of lines) {
      const headers = line.split('\n')
      await talk.s3('PUT', target, { body: 'b', headers })
      if (talk.random.once(2)) await talk.s3('PUT', `${target}-${talk.random.below(1000)}`, { body: 'b', headers })
      else await talk.s3('PUT', `${target}-copy`, { headers: [...copy, ...headers] })
      await talk.s3('DELETE', target, { headers })
      if (talk.random.once(2)) await talk.s3('DELETE', target)
    }
  }
}

const OVERRIDES: readonly string[] = [
  'response-content-type=text/plain',
  'response-content-type=',
  'response-content-type=a&response-content-type=b',
  'response-content-disposition=attachment%3B%20filename%3D%22a%22',
  'response-content-encoding=gzip',
  'response-content-language=de',
  'response-cache-control=no-store',
  'response-expires=never',
  'response-expires=a%0D%0Ax%3A%20y',
  'response-content-type=%C3%A4',
  'response-content-type=%FF',
  'response-content-type=a%00',
  'response-unknown=1',
  'Response-Content-Type=a',
  'response-content-type=a&response-cache-control=b&response-expires=c',
]

async function overrides(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  await talk.s3('PUT', target, { body: 'b', headers: ['content-type: text/html', 'cache-control: private'] })
  for (const method of ['GET', 'HEAD']) await eachQuery(talk, method, target, OVERRIDES)
  await eachQuery(talk, 'GET', target, OVERRIDES, { presign: '60' })
  await eachQuery(talk, 'GET', target, OVERRIDES.slice(0, 3), { as: null })
  await eachHeader(talk, 'GET', `${target}?${OVERRIDES[0]}`, [
    'if-none-match: *',
    'range: bytes=9-',
    'range: bytes=0-0',
  ])
}

export const READ_BLOCKS: readonly Block[] = [
  { name: 's3-ranges', run: ranges },
  { name: 's3-read-conditions', run: readConditions },
  { name: 's3-write-conditions', run: writeConditions },
  { name: 's3-overrides', run: overrides },
]
