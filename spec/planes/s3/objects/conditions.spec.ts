/** Proves: DO-CAP-08. */
import { millisecondsOf } from '../../../../engine/brands.ts'
import { test } from 'tap'
import { contentRange } from '../../../../planes/http/headers/byte-range.ts'
import { byteRange } from '../../../../planes/s3/request/byte-range.ts'
import { httpTimestamp, parseHttpDate } from '../../../../planes/http/headers/http-date.ts'
import { formatAmzDate, isoTimestamp, parseAmzDate } from '../../../../planes/s3/text/timestamps.ts'
import { detail, refusal } from '../wire-request.ts'

const MODIFIED_MILLISECONDS = Date.UTC(2026, 0, 31, 12, 0, 0)
const NOW = millisecondsOf(MODIFIED_MILLISECONDS + 3_600_000)

const AT = 'Sat, 31 Jan 2026 12:00:00 GMT'

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
  for (const second of [0, 59, 3599, 86_399, 86_400, 951_782_399, 1_709_251_199, 4_102_444_800]) {
    t.equal(httpTimestamp(second * 1e6 + 999_999), new Date(second * 1000).toUTCString())
  }
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
