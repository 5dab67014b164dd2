import * as fc from 'fast-check'
import { test } from 'tap'
import { millisecondsOf } from '../../../../engine/brands.ts'
import { isoMilliseconds, parseIsoTimestamp } from '../../../../planes/s3/text/timestamps.ts'

const NOW = millisecondsOf(Date.UTC(2026, 0, 31, 12))
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

test('moments in ISO 8601', async (t) => {
  const moments: [text: string, milliseconds: number][] = [
    ['2026-01-31T12:00:00Z', NOW],
    ['2026-01-31T12:00:00.000Z', NOW],
    ['2026-01-31T14:30:00+02:30', NOW],
    ['2026-01-31T02:00:00.0-1000', NOW],
    ['2026-01-31T12:00:00.001Z', NOW + 1],
    ['2026-01-31T12:00:00.1Z', NOW + 100],
    ['2026-01-31T12:00:00.000001Z', NOW + 1],
    ['2026-01-31T12:00:00.123456789+00:00', NOW + 124],
    ['2026-01-31T12:00:00.999999Z', NOW + 1000],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2140-01-01T00:00:00Z', Date.UTC(2140, 0, 1)],
    ['9999-12-31T23:59:59Z', LAST - 999],
    ['9999-12-31T23:59:59.999Z', LAST],
    ['9999-12-31T23:59:59.999999Z', LAST],
    ['1969-12-31T23:59:59Z', -1000],
  ]
  for (const [text, milliseconds] of moments) t.equal(parseIsoTimestamp(text), milliseconds, text)
  const none = [
    '',
    '2026-01-31',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31 12:00:00Z',
    '2026-01-31t12:00:00z',
    ' 2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00Z\n',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00.0000000000Z',
    '2026-01-31T12:00:00+24:00',
    '2026-01-31T12:00:00+00:60',
    '2026-01-31T12:00:00+02',
    '2025-02-29T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-01-31T12:00:60Z',
    '0099-01-31T12:00:00Z',
    '+10000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-00:01',
    '20260131T120000Z',
    '1769860800',
  ]
  for (const text of none) t.equal(parseIsoTimestamp(text), undefined, text)
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(100, 0), max: LAST }), (milliseconds) => {
      return parseIsoTimestamp(isoMilliseconds(milliseconds)) === milliseconds
    }),
  )
})
