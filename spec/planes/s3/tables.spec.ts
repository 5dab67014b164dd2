/** Tables and times of the S3 plane. */
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { test } from 'tap'
import { bucketIdOf } from '../../../engine/brands.ts'
import { S3_ERRORS } from '../../../planes/s3/errors/s3-errors.ts'
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'
import { decodeContinuationToken, encodeContinuationToken } from '../../../planes/s3/request/continuation-token.ts'
import type { ListPosition } from '../../../projections/catalog/object-listing.ts'
import { isoMilliseconds, isoTimestamp } from '../../../planes/s3/text/timestamps.ts'
import { tablesOf } from '../../support/pages/markdown-tables.ts'
import { S3_DOCUMENTS, servedText } from '../../support/pages/s3-documents.ts'
import { refusalCode } from './wire-request.ts'

test('the pages say what the tables say', async (t) => {
  for (const { path, text } of S3_DOCUMENTS) t.equal(readFileSync(path, 'utf8'), text(), path)
})

test('a reader of the pages finds every row and nothing else', async (t) => {
  const [operations, errors] = S3_DOCUMENTS.map(({ path }) => tablesOf(path)[0]?.slice(1) ?? [])
  t.same(
    operations?.map((row) => [row[0], row.at(-1)]),
    OPERATIONS.map((row) => [row.name, servedText(row)]),
  )
  t.same(
    errors?.map((row) => [row[0], Number(row[1])]),
    Object.entries(S3_ERRORS).map(([code, { status }]) => [`\`${code}\``, status]),
  )
})

/** The first and the last moment that the platform knows (ECMA-262, time values). */
const LIMIT = 8.64e15

const DAY = 86_400_000

test('times are written as the platform writes them', async (t) => {
  const moments = [0, 1, -1, DAY - 1, DAY, -DAY, Date.UTC(9999, 11, 31, 23, 59, 59, 999), Date.UTC(10_000, 0), LIMIT]
  for (const moment of moments) t.equal(isoMilliseconds(moment), new Date(moment).toISOString())
  fc.assert(
    fc.property(fc.integer({ min: -LIMIT, max: LIMIT }), (moment) => {
      return isoMilliseconds(moment) === new Date(moment).toISOString()
    }),
  )
})

test('times of one day and of the next, one after the other', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 * DAY })), (moments) => {
      return moments.every((moment) => isoTimestamp(moment * 1000 + 999) === new Date(moment).toISOString())
    }),
  )
})

test('a time that the platform does not know', async (t) => {
  for (const moment of [LIMIT + DAY, Number.NaN]) t.throws(() => isoMilliseconds(moment), RangeError)
  t.equal(isoMilliseconds(5), '1970-01-01T00:00:00.005Z')
})

test('continuation tokens', async (t) => {
  const key = Buffer.alloc(32, 7)
  const position: ListPosition = { kind: 'after-key', bytes: Buffer.from('a/ü\u0000') }
  const token = encodeContinuationToken(key, bucketIdOf(12), position)
  t.match(token, /^[A-Za-z0-9_-]+$/)
  t.same(decodeContinuationToken(key, bucketIdOf(12), token), position)
  const prefix: ListPosition = { kind: 'after-prefix', bytes: Buffer.from('a/') }
  t.same(decodeContinuationToken(key, undefined, encodeContinuationToken(key, undefined, prefix)), prefix)
  const longest: ListPosition = { kind: 'after-key', bytes: Buffer.alloc(1024, 0xff) }
  t.same(decodeContinuationToken(key, bucketIdOf(1), encodeContinuationToken(key, bucketIdOf(1), longest)), longest)

  const refused = (bucketId: number, text: string, by = key) =>
    refusalCode(() => decodeContinuationToken(by, bucketIdOf(bucketId), text))
  t.equal(refused(12, token), undefined)
  t.equal(refused(1, token), 'InvalidArgument', 'another bucket')
  t.equal(refused(12, token, Buffer.alloc(32, 8)), 'InvalidArgument', 'another deployment')
  const bytes = Buffer.from(token, 'base64url')
  for (let index = 0; index < bytes.length; index += 1) {
    const bent = Buffer.from(bytes)
    bent[index] = (bent[index] ?? 0) ^ 1
    t.equal(refused(12, bent.toString('base64url')), 'InvalidArgument', `byte ${index}`)
  }
  const others = [
    '',
    'x',
    'a/b',
    `${token}=`,
    `${token}A`,
    ` ${token}`,
    token.slice(0, -1),
    bytes.toString('hex'),
    'A'.repeat(5000),
  ]
  for (const text of others) t.equal(refused(12, text), 'InvalidArgument', text.slice(0, 40))
  fc.assert(fc.property(fc.string(), (text) => refused(12, text) === 'InvalidArgument'))
})
