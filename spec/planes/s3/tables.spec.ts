import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { S3_OF_DOMAIN_ERROR } from '../../../planes/s3/domain-errors.ts'
import { S3_ERRORS } from '../../../planes/s3/errors.ts'
import { OPERATIONS } from '../../../planes/s3/operation-table.ts'
import { OPERATION_HANDLERS } from '../../../planes/s3/operations/operation-handlers.ts'
import { DOMAIN_ERRORS } from '../../../engine/errors.ts'
import { tablesOf } from '../../support/markdown-tables.ts'
import { S3_DOCUMENTS } from '../../support/s3-documents.ts'

test('every implemented operation but the preflights has a handler, and no other', async (t) => {
  const preflights = ['PreflightBucket', 'PreflightObject']
  const implemented = OPERATIONS.filter((row) => row.implemented && !preflights.includes(row.name)).map(
    (row) => row.name,
  )
  t.same([...OPERATION_HANDLERS.keys()].toSorted(), implemented.toSorted())
})

test('the pages say what the tables say', async (t) => {
  for (const { path, text } of S3_DOCUMENTS) t.equal(readFileSync(path, 'utf8'), text(), path)
})

test('a reader of the pages finds every row and nothing else', async (t) => {
  const [operations, errors] = S3_DOCUMENTS.map(({ path }) => tablesOf(path)[0]?.slice(1) ?? [])
  t.same(
    operations?.map((row) => [row[0], row.at(-1)]),
    OPERATIONS.map((row) => [row.name, row.implemented ? 'yes' : 'no']),
  )
  t.same(
    errors?.map((row) => [row[0], Number(row[1])]),
    Object.entries(S3_ERRORS).map(([code, { status }]) => [`\`${code}\``, status]),
  )
})

test('every refusal of the engine has a code on the wire', async (t) => {
  t.same(Object.keys(S3_OF_DOMAIN_ERROR).toSorted(), Object.keys(DOMAIN_ERRORS).toSorted())
  for (const { code } of Object.values(S3_OF_DOMAIN_ERROR)) t.ok(Object.hasOwn(S3_ERRORS, code), code)
})
