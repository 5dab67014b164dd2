import type { WriteCondition } from '../../../engine/commands.ts'
import { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { byteRange, contentRange } from '../../../planes/s3/byte-range.ts'
import { checkCopySourceConditions, checkReadConditions, writeCondition } from '../../../planes/s3/conditions.ts'
import { parseHttpDate } from '../../../planes/s3/http-date.ts'
import { formatAmzDate, httpTimestamp, isoTimestamp, parseAmzDate } from '../../../planes/s3/timestamps.ts'
import { detail, refusal, refusalCode, wireRequest } from './wire-request.ts'

const ETAG = 'd41d8cd98f00b204e9800998ecf8427e'
const MODIFIED_MILLISECONDS = Date.UTC(2026, 0, 31, 12, 0, 0)
const NOW = MODIFIED_MILLISECONDS + 3_600_000
// Three quarters of a second behind the second that Last-Modified tells.
const VALIDATORS = { etag: ETAG, lastModifiedMicroseconds: MODIFIED_MILLISECONDS * 1000 + 750_000 }
const AT = 'Sat, 31 Jan 2026 12:00:00 GMT'
const BEFORE = 'Sat, 31 Jan 2026 11:59:59 GMT'
const AFTER = 'Sat, 31 Jan 2026 12:00:01 GMT'
const FUTURE = 'Sat, 31 Jan 2026 13:00:01 GMT'

/** The outcome of a read: proceed, not-modified, or the name of the condition that failed. */
function read(headers: readonly HeaderLine[]): string | undefined {
  const { request } = wireRequest('GET', '/b/k', headers)
  let outcome: string | undefined
  const code = refusalCode(() => {
    outcome = checkReadConditions(request, VALIDATORS, NOW)
  })
  return code === undefined ? outcome : '412'
}

test('single conditions on reads', async (t) => {
  const cases: [name: string, value: string, outcome: string][] = [
    ['if-match', `"${ETAG}"`, 'proceed'],
    ['if-match', ETAG, 'proceed'],
    ['if-match', '*', 'proceed'],
    ['if-match', `"x", "${ETAG}"`, 'proceed'],
    ['if-match', '"x"', '412'],
    ['if-match', `W/"${ETAG}"`, '412'],
    ['if-match', `"a,${ETAG},b"`, '412'],
    ['if-match', '', 'proceed'],
    ['if-none-match', `"${ETAG}"`, 'not-modified'],
    ['if-none-match', ETAG, 'not-modified'],
    ['if-none-match', `W/"${ETAG}"`, 'not-modified'],
    ['if-none-match', `"x",${ETAG}`, 'not-modified'],
    ['if-none-match', '*', 'not-modified'],
    ['if-none-match', '"x"', 'proceed'],
    ['if-modified-since', AT, 'not-modified'],
    ['if-modified-since', AFTER, 'not-modified'],
    ['if-modified-since', BEFORE, 'proceed'],
    ['if-modified-since', FUTURE, 'proceed'],
    ['if-modified-since', 'yesterday', 'proceed'],
    ['if-unmodified-since', AT, 'proceed'],
    ['if-unmodified-since', AFTER, 'proceed'],
    ['if-unmodified-since', BEFORE, '412'],
    ['if-unmodified-since', 'yesterday', 'proceed'],
  ]
  t.equal(read([]), 'proceed')
  for (const [name, value, outcome] of cases) t.equal(read([[name, value]]), outcome, `${name}: ${value}`)
})

test('an ETag condition silences the time condition beside it', async (t) => {
  const cases: [headers: Readonly<Record<string, string>>, outcome: string][] = [
    [{ 'if-match': ETAG, 'if-unmodified-since': BEFORE }, 'proceed'],
    [{ 'if-match': 'x', 'if-unmodified-since': AFTER }, '412'],
    [{ 'if-none-match': ETAG, 'if-modified-since': BEFORE }, 'not-modified'],
    [{ 'if-none-match': 'x', 'if-modified-since': AFTER }, 'proceed'],
    [{ 'if-match': ETAG, 'if-none-match': ETAG }, 'not-modified'],
    [{ 'if-match': 'x', 'if-none-match': ETAG }, '412'],
    [{ 'if-unmodified-since': AFTER, 'if-modified-since': AT }, 'not-modified'],
    [{ 'if-match': ETAG, 'if-modified-since': BEFORE }, 'proceed'],
  ]
  for (const [headers, outcome] of cases) t.equal(read(Object.entries(headers)), outcome, JSON.stringify(headers))
  const { request } = wireRequest('GET', '/b/k', [['if-unmodified-since', BEFORE]])
  const error = refusal(() => checkReadConditions(request, VALIDATORS, NOW))
  t.equal(error.code, 'PreconditionFailed')
  t.equal(detail(error, 'Condition'), 'If-Unmodified-Since')
})

function copy(headers: readonly HeaderLine[], query = ''): string | undefined {
  const { request, target } = wireRequest('PUT', `/b/k${query}`, headers)
  return refusalCode(() => {
    checkCopySourceConditions(request, target, VALIDATORS, NOW)
  })
}

test('conditions on a copy source never give 304', async (t) => {
  const prefix = 'x-amz-copy-source-if'
  t.equal(copy([]), undefined)
  t.equal(copy([['if-match', 'x']]), undefined, 'the conditions of the target are others')
  t.equal(copy([[`${prefix}-match`, ETAG]]), undefined)
  t.equal(copy([[`${prefix}-match`, 'x']]), 'PreconditionFailed')
  t.equal(copy([[`${prefix}-none-match`, ETAG]]), 'PreconditionFailed')
  t.equal(copy([[`${prefix}-modified-since`, AT]]), 'PreconditionFailed')
  t.equal(copy([[`${prefix}-modified-since`, BEFORE]]), undefined)
  t.equal(copy([[`${prefix}-unmodified-since`, BEFORE]]), 'PreconditionFailed')
  t.equal(
    copy([
      [`${prefix}-match`, ETAG],
      [`${prefix}-unmodified-since`, BEFORE],
    ]),
    undefined,
  )
  t.equal(
    copy([
      [`${prefix}-none-match`, ETAG],
      [`${prefix}-modified-since`, BEFORE],
    ]),
    'PreconditionFailed',
  )
  t.equal(copy([], `?X-Amz-Copy-Source-If-Match=x`), 'PreconditionFailed', 'in a presigned query')
})

function write(...headers: HeaderLine[]): WriteCondition {
  return writeCondition(wireRequest('PUT', '/b/k', headers).request)
}

test('conditions on writes', async (t) => {
  t.same(write(), { kind: 'none' })
  t.same(write(['if-none-match', '*']), { kind: 'absent' })
  t.same(write(['if-match', '*']), { kind: 'exists' })
  t.same(write(['if-match', `"${ETAG}"`]), { kind: 'matches', etags: [ETAG] })
  t.same(write(['if-match', ETAG]), { kind: 'matches', etags: [ETAG] })
  t.same(write(['if-match', `"${ETAG}-2", W/"x"`]), { kind: 'matches', etags: [`${ETAG}-2`] })
  t.same(write(['if-modified-since', AT]), { kind: 'none' }, 'RFC 9110 gives it no meaning on a write')
  t.same(write(['if-none-match', `"${ETAG}"`]), { kind: 'differs', etags: [ETAG] })
  t.same(write(['if-none-match', ETAG]), { kind: 'differs', etags: [ETAG] })
  t.same(write(['if-none-match', `"${ETAG}-2", W/"x"`]), { kind: 'differs', etags: [`${ETAG}-2`, 'x'] }, 'weakly')
  t.equal(
    refusalCode(() => write(['if-none-match', ''])),
    'InvalidArgument',
  )
  t.equal(
    refusalCode(() => write(['if-unmodified-since', AT])),
    'NotImplemented',
  )
  t.equal(
    refusalCode(() => write(['if-match', ''])),
    'InvalidArgument',
  )
  t.equal(
    refusalCode(() => write(['if-match', '"x'])),
    undefined,
  )
  t.equal(
    refusalCode(() => write(['if-match', '*'], ['if-none-match', `"${ETAG}"`])),
    'InvalidRequest',
  )
  t.equal(
    refusalCode(() => write(['if-match', '*'], ['if-none-match', '*'])),
    'InvalidRequest',
  )
})

test('dates', async (t) => {
  const moment = Date.UTC(1994, 10, 6, 8, 49, 37)
  const forms = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994']
  const zones = ['Sun, 06 Nov 1994 08:49:37 -0000', 'Sun, 06 Nov 1994 08:49:37 +0000']
  for (const text of [...forms, ...zones]) t.equal(parseHttpDate(text, NOW), moment, text)
  t.equal(parseHttpDate('Monday, 01-Jan-76 00:00:00 GMT', NOW), Date.UTC(2076, 0, 1), '50 years ahead')
  t.equal(parseHttpDate('Monday, 01-Jan-77 00:00:00 GMT', NOW), Date.UTC(1977, 0, 1), 'more than 50 years ahead')
  const bad = ['', 'Sun, 6 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 08:49:37 +0100', 'Sun, 06 Nov 1994 24:00:00 GMT']
  const worse = ['Sun, 31 Feb 1994 00:00:00 GMT', 'Sun, 00 Nov 1994 00:00:00 GMT', '1994-11-06T08:49:37Z', '784111777']
  const worst = [
    'Xyz, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun Nov 06 08:49:37 1994 ',
    'Sun, 06 Nov 1994 08:49:37 +00:00',
    'Sunday, 06-Nov-94 08:49:37 -0000',
    'Sun, 06 Nov 1994 08:49:37',
    `${AT}x`,
  ]
  for (const text of [...bad, ...worse, ...worst]) t.equal(parseHttpDate(text, NOW), undefined, text)

  const microseconds = MODIFIED_MILLISECONDS * 1000 + 123_999
  t.equal(isoTimestamp(microseconds), '2026-01-31T12:00:00.123Z')
  t.equal(httpTimestamp(microseconds), AT)
  t.equal(formatAmzDate(MODIFIED_MILLISECONDS), '20260131T120000Z')
  t.equal(parseAmzDate('20260131T120000Z'), MODIFIED_MILLISECONDS)
  for (const text of [
    '20260131T120000',
    '20260229T000000Z',
    '20260131T126000Z',
    '00000101T000000Z',
    '2026-01-31T12:00:00Z',
  ]) {
    t.equal(parseAmzDate(text), undefined, text)
  }
})

test('ranges', async (t) => {
  const ranges: [header: string, size: number, expected: string | undefined][] = [
    ['bytes=4-7', 11, 'bytes 4-7/11'],
    ['bytes=4-', 11, 'bytes 4-10/11'],
    ['bytes=4-99', 11, 'bytes 4-10/11'],
    ['bytes=-7', 11, 'bytes 4-10/11'],
    ['bytes=-99', 11, 'bytes 0-10/11'],
    ['bytes=0-0', 11, 'bytes 0-0/11'],
    ['bytes=10-10', 11, 'bytes 10-10/11'],
    ['BYTES=0-1', 11, 'bytes 0-1/11'],
    ['bytes=0-99999999999999999999999', 11, 'bytes 0-10/11'],
    ['bytes=7-4', 11, undefined],
    ['items=0-1', 11, undefined],
    ['bytes=a-b', 11, undefined],
    ['bytes=0-1,3-4', 11, undefined],
    ['bytes=-', 11, undefined],
    ['bytes=', 11, undefined],
    ['bytes=0-1 ', 11, undefined],
    ['bytes=+1-2', 11, undefined],
    ['', 11, undefined],
    ['bytes=7-4', 0, undefined],
    ['bytes=9999999999999999999-9999999999999999199', 11, undefined],
  ]
  for (const [header, size, expected] of ranges) {
    const range = byteRange(header, size)
    t.equal(range && contentRange(range, size), expected, header)
  }
  t.equal(byteRange(undefined, 11), undefined)
  for (const [header, size] of [
    ['bytes=11-', 11],
    ['bytes=40-50', 11],
    ['bytes=-0', 11],
    ['bytes=0-', 0],
    ['bytes=0-0', 0],
    ['bytes=-5', 0],
  ] as const) {
    const error = refusal(() => byteRange(header, size))
    t.equal(error.status, 416, header)
    t.same(error.headers, [['content-range', `bytes */${size}`]])
    t.equal(detail(error, 'RangeRequested'), header)
    t.equal(detail(error, 'ActualObjectSize'), String(size))
  }
})
