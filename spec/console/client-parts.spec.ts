/** The parts of the console's client that need no browser. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { pathOf, queryOf } from '../../planes/console/client/api/address.ts'
import { errorOf } from '../../planes/console/client/api/api-error.ts'
import { hrefOf, matchRoute, parseRoute } from '../../planes/console/client/app/address.ts'
import { rowAfterKey, windowOf } from '../../planes/console/client/parts/virtual-rows.ts'
import { compareKeys } from '../../planes/console/client/text/compare-keys.ts'
import { formatBytes, parseBytes } from '../../planes/console/client/text/format.ts'
import { visibleText } from '../../planes/console/client/text/visible.ts'
import { anyCharacter } from '../support/any-character.ts'

const after = (key: string, row: number) => rowAfterKey(key, row, 100, 10)
const anyText = fc.string({ unit: anyCharacter })

test('an address of a screen says what it was made of', async (t) => {
  const segment = anyText.filter((text) => text !== '')
  fc.assert(
    fc.property(fc.array(segment), fc.dictionary(segment, segment), (segments, query) => {
      const { __proto__: _own, ...kept } = query
      t.same(parseRoute(hrefOf(segments, kept)), { segments, query: kept })
    }),
    { numRuns: 200 },
  )
  t.same(parseRoute(''), { segments: [], query: {} })
  t.same(parseRoute('#/a%zz?b=%'), { segments: ['a%zz'], query: { b: '%' } }, 'what cannot be decoded stays')
  t.same(matchRoute('buckets/:bucket', parseRoute('#/buckets/a%2Fb')), { bucket: 'a/b' })
  t.equal(matchRoute('buckets/:bucket', parseRoute('#/buckets')), undefined)
  t.equal(matchRoute('buckets', parseRoute('#/other')), undefined)
})

test('a key reaches the server as it is, whatever it looks like', async (t) => {
  const operation = 'GET /buckets/{bucket}/object/{key}'
  const keyOf = (key: string) => {
    const { pathname } = new URL(pathOf(operation, { bucket: 'photos', key }), 'http://console.example/')
    return decodeURIComponent(pathname.replace('/api/v1/buckets/photos/object/', ''))
  }
  for (const key of ['a/../b', '../x', './x', 'a//b', '/', '//', 'a/..', '%2e%2e', '?a=b#c', 'a\\b', '\u202egnp']) {
    t.equal(keyOf(key), key)
  }
  fc.assert(
    fc.property(anyText, (key) => key === '' || key === '.' || key === '..' || keyOf(key) === key),
    { numRuns: 500 },
  )
  for (const key of ['.', '..']) t.throws(() => keyOf(key), /A browser cannot name/)
  t.equal(queryOf({ a: 'x y&z', b: undefined, c: 0, d: false }), '?a=x%20y%26z&c=0&d=false')
})

test('names are shown with what hides in them', async (t) => {
  t.equal(visibleText('evil\u202egnp.exe'), 'evil<U+202E>gnp.exe')
  t.equal(visibleText('a\u0000b\nc\u200bd\ufeff'), 'a<U+0000>b<U+000A>c<U+200B>d<U+FEFF>')
  t.equal(visibleText('Grüße 日本語 👋 <b>'), 'Grüße 日本語 👋 <b>')
})

test('keys are in the order of their bytes', async (t) => {
  fc.assert(
    fc.property(anyText, anyText, (left, right) => {
      const bytes = Buffer.compare(Buffer.from(left), Buffer.from(right))
      t.equal(Math.sign(compareKeys(left, right)), bytes)
    }),
    { numRuns: 300 },
  )
  t.ok(compareKeys('\uffee', '\u{1f44b}') < 0)
})

test('sizes are written and read', async (t) => {
  t.same([0, 1023, 1024, 1536, 10 * 1024 ** 3, 2 ** 53 - 1].map(formatBytes), [
    '0 B',
    '1023 B',
    '1 KiB',
    '1.5 KiB',
    '10 GiB',
    '8 PiB',
  ])
  t.same(['10 GiB', '1.5k', '7', ' 2 mb '].map(parseBytes), [10 * 1024 ** 3, 1536, 7, 2 * 1024 ** 2])
  for (const text of ['', 'x', '-1', '1 gallon', '1e3', '9999999 PiB']) t.equal(parseBytes(text), undefined, text)
})

test('a long list makes the rows around what is seen', async (t) => {
  t.same(windowOf(0, 440, 44, 100_000), { from: 0, to: 16 })
  t.same(windowOf(44_000, 440, 44, 100_000), { from: 994, to: 1016 })
  t.same(windowOf(44_000, 440, 44, 3), { from: 3, to: 3 }, 'a list that became shorter')
  t.same(windowOf(0, 440, 44, 0), { from: 0, to: 0 })
  t.same(
    ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End'].map((key) => after(key, 95)),
    [96, 94, 99, 85, 0, 99],
  )
  t.equal(after('ArrowUp', 0), 0)
  t.equal(after('a', 0), undefined)
})

test('an answer that no store has made is not taken for one', async (t) => {
  const body = JSON.stringify({ error: { code: 'BUCKET_EXISTS', message: 'It is there.', request_id: 'r' } })
  t.match(errorOf(409, body, 'id-1'), {
    code: 'BUCKET_EXISTS',
    message: 'It is there.',
    status: 409,
    requestId: 'id-1',
  })
  for (const text of ['', '<html>', 'null', '3', '{"error":"x"}', '{"error":{"code":3,"message":"m"}}']) {
    t.match(errorOf(502, text, null), { code: 'BAD_ANSWER', status: 502, requestId: undefined }, text)
  }
})
