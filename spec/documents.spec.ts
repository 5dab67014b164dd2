/** Tables of the code equal the pages that tell of them, both ways and in the same order. */
import { existsSync } from 'node:fs'
import { test } from 'tap'
import { EXIT_BY_ERROR } from '../cli/server/engine-exit.ts'
import { exitTable } from '../cli/exit-codes.ts'
import { DOMAIN_ERRORS, type DomainErrorCode, resultOfRefusal } from '../engine/domain/error-table.ts'
import { DomainError } from '../engine/errors.ts'
import { metricTable } from '../planes/metrics/metric-table.ts'
import { managementErrorOf, managementErrors } from '../planes/management/errors.ts'
import { routeList } from '../planes/management/routing/route-list.ts'
import { s3ErrorOf } from '../planes/s3/errors/s3-errors.ts'
import { sharingErrors } from '../planes/links/errors.ts'
import { PROOFS } from './prove/proof-list.ts'
import { type MarkdownRow, tableWith } from './support/pages/markdown-tables.ts'

const ERRORS = 'spec/manual/errors.md'

function code(text: string): string {
  return `\`${text}\``
}

test('refusals of the engine, and their errors on the planes', async (t) => {
  const rows = (Object.keys(DOMAIN_ERRORS) as DomainErrorCode[]).map((name): MarkdownRow => {
    const refusal = new DomainError(name)
    const s3 = s3ErrorOf(refusal)
    const management = managementErrorOf(refusal)
    return [
      code(name),
      resultOfRefusal(name),
      `${s3.status} ${code(s3.code)}`,
      `${management.status} ${code(management.code)}`,
      DOMAIN_ERRORS[name].sentence,
    ]
  })
  t.same(tableWith(ERRORS, 'code | audit result | S3 | management | sentence'), rows)
})

test('errors of the management listener', async (t) => {
  const rows = Object.entries(managementErrors).map(([name, row]) => [code(name), String(row.status), row.sentence])
  t.same(tableWith(ERRORS, 'code | status | sentence'), rows)
})

test('errors of public links', async (t) => {
  const rows = Object.entries(sharingErrors).map(([name, row]) => [code(name), String(row.status), row.sentence])
  t.same(tableWith('spec/manual/management/public-links.md', 'public code | status | sentence'), rows)
})

test('exit codes', async (t) => {
  const rows = Object.entries(exitTable).map(([name, row]) => [String(row.code), code(name), row.sentence])
  t.same(tableWith(ERRORS, 'exit code | name | meaning'), rows)
  t.equal(new Set(rows.map(([number]) => number)).size, rows.length, 'no code means two things')
  const failures = tableWith(ERRORS, 'error | exit code name | what happened').map(([error, name]) => [error, name])
  t.same(
    failures,
    Object.entries(EXIT_BY_ERROR).map(([error, name]) => [code(error), code(name)]),
  )
})

test('management routes', async (t) => {
  const header = 'method | path | roles | body | meaning'
  const rows = routeList.map(({ method, path, roles, body, summary }) => {
    return [method, code(path), [roles].flat().join(', '), body, summary]
  })
  t.same(tableWith('spec/manual/management/routes.md', header), rows)
})

test('metrics', async (t) => {
  const rows = metricTable.map((row) => [code(row.name), row.type, row.labels.map(code).join(', '), row.help])
  t.same(tableWith('spec/manual/metrics.md', 'metric | type | labels | meaning'), rows)
})

test('the track record: every fault has a case or a proof that finds it', async (t) => {
  const header = 'what was wrong | what finds it now | mended in'
  const rows = [0, 1, 2, 3].flatMap((which) => tableWith('spec/track-record.md', header, which))
  t.ok(rows.length > 50)
  for (const [fault = '', finder = '', commit] of rows) {
    const specs = [...finder.matchAll(/\]\(([^)]+\.spec\.ts)\)/g)].map(([, path = '']) => path)
    const named = [...finder.matchAll(/`prove ([\w-]+)/g)].map(([, name]) => name)
    t.ok(specs.length + named.length > 0, `${fault.slice(0, 60)}: is found`)
    for (const path of specs) t.ok(existsSync(`spec/${path}`), path)
    for (const name of named)
      t.ok(
        PROOFS.some((proof) => proof.name === name),
        `prove ${name}`,
      )
    t.match(commit, /^[0-9a-f]{7}$/)
  }
})
