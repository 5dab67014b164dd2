/** Tables of the code equal the pages that tell of them, both ways and in the same order. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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
import { type StatementFiles, statementFindings, statementRows, STATEMENTS } from './support/pages/statements.ts'

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

/** Every TypeScript file of spec/ that says what it proves. */
function provingFiles(): Map<string, string> {
  const names = readdirSync('spec', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return new Map(names.map((name) => [name, readFileSync(`spec/${name}`, 'utf8')]))
}

const FILES: StatementFiles = {
  specs: provingFiles(),
  page: (path) => (existsSync(`spec/${path}`) ? readFileSync(`spec/${path}`, 'utf8') : undefined),
}

test("the customer's specification: each statement has a spec that names it, or a decision", async (t) => {
  const rows = statementRows(STATEMENTS)
  t.ok(rows.length > 250)
  t.same(statementFindings(rows, FILES), [])
})

/** The beginning of a spec that proves these statements. */
const provingText = (...ids: readonly string[]) => `/**\n * About.\n *\n * Proves: ${ids.join(', ')}.\n */\n`

test('a statement that nothing proves, and a proof of no statement, are found', async (t) => {
  const [holds, otherwise] = ['holds', '[decided otherwise](decisions/0001-a.md#b)']
  const files: StatementFiles = {
    specs: new Map([
      ['a.spec.ts', provingText('DO-ONE-01', 'DO-ONE-02,\n * DO-ONE-03')],
      ['b.spec.ts', `/** Proves: DO-TWO-01. */`],
      ['c.spec.ts', '/** About nothing. */'],
    ]),
    page: (path) =>
      ({ 'decisions/0001-a.md': '# A\n\nStatus: accepted\n', 'decisions/0003-b.md': 'Status: superseded by C\n' })[
        path
      ],
  }
  const sound = [
    ['DO-ONE-01', 'One.', holds, '[a](a.spec.ts)'],
    ['DO-ONE-02', 'Two.', otherwise, '[a](a.spec.ts)'],
    ['DO-ONE-03', 'Three.', holds, '[a](a.spec.ts)'],
    ['DO-TWO-01', 'Four.', holds, '[b](b.spec.ts)'],
    ['DO-TWO-02', 'Five.', 'holds, not yet proved', ''],
    ['DO-TWO-03', 'Six.', otherwise, ''],
  ]
  t.same(statementFindings(sound, files), [])
  const last = (...row: readonly string[]) => statementFindings([...sound, row], files)
  t.same(last('DO-ONE-01', 'Again.', holds, '[a](a.spec.ts)'), ['DO-ONE-01: occurs twice'])
  t.same(last('S7', 'No id.', 'holds, not yet proved', ''), ['S7: not an id'])
  t.same(last('DO-NEW-01', '', 'holds, not yet proved', ''), ['DO-NEW-01: says nothing'])
  t.same(last('DO-NEW-01', 'New.', holds, ''), ['DO-NEW-01: nothing proves it'])
  t.same(last('DO-NEW-01', 'New.', holds, '[d](d.spec.ts)'), ['DO-NEW-01: d.spec.ts is not a spec'])
  t.same(last('DO-NEW-01', 'New.', holds, '[c](c.spec.ts)'), ['DO-NEW-01: c.spec.ts does not say that it proves it'])
  t.same(last('DO-NEW-01', 'New.', 'maybe', ''), ['DO-NEW-01: unknown state "maybe"'])
  for (const page of ['0003-b', '0003-none']) {
    const state = `[decided otherwise](decisions/${page}.md)`
    t.same(last('DO-NEW-01', 'New.', state, ''), [`DO-NEW-01: decisions/${page}.md is not accepted`])
  }
  const [, ...rest] = sound
  t.same(statementFindings(rest, files), ['a.spec.ts: proves DO-ONE-01, which the table does not have'])
  const moved = ['DO-ONE-01', 'One.', 'holds, not yet proved', '']
  t.same(statementFindings([moved, ...rest], files), ['a.spec.ts: proves DO-ONE-01, whose row does not say so'])
  const both = ['DO-TWO-02', 'Five.', 'holds, not yet proved', '[b](b.spec.ts)']
  t.match(statementFindings([...sound.filter(([id]) => id !== 'DO-TWO-02'), both], files), [
    'DO-TWO-02: b.spec.ts does not say that it proves it',
    'DO-TWO-02: has a proof, so it is proved',
  ])
})
