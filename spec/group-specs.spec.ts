import { test } from 'tap'
import { groupsOf, setsRootTest } from './group-specs.ts'

const names = (folder: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${folder}/${String(index).padStart(2, '0')}.spec.js`)

test('specs of a folder share processes, and each is in one', (t) => {
  const all = [
    'documents.spec.js',
    ...names('cli', 65),
    ...names('engine/journal', 6),
    ...names('engine', 2),
    ...names('workers', 7),
  ]
  const groups = groupsOf(all, () => false)
  t.same(
    groups.map(({ name, specs }) => [name, specs.length]),
    [
      ['cli, 1 of 3', 22],
      ['cli, 2 of 3', 22],
      ['cli, 3 of 3', 21],
      ['others, 1 of 1', 8],
      ['engine, 1 of 1', 8],
    ],
  )
  t.same(groups.flatMap(({ specs }) => specs).toSorted(), all.toSorted())
  t.end()
})

test('what takes long is in small groups', (t) => {
  t.same(
    groupsOf(names('console', 12), () => false).map(({ name, specs }) => [name, specs.length]),
    [
      ['console, 1 of 3', 4],
      ['console, 2 of 3', 4],
      ['console, 3 of 3', 4],
    ],
  )
  t.end()
})

test('folders of planes are their own, and what is to run alone comes last', (t) => {
  const all = [
    'planes/http-tls.spec.js',
    ...names('planes', 9),
    ...names('planes/s3', 6),
    ...names('planes/s3/cors', 4),
    'planes/links/shares.spec.js',
  ]
  t.same(
    groupsOf(all, (name) => name === 'planes/http-tls.spec.js').map(({ name }) => name),
    ['planes/s3, 1 of 1', 'planes, 1 of 1', 'planes/links/shares.spec.js', 'planes/http-tls.spec.js'],
  )
  t.end()
})

test('a spec that sets something of the root test has a process of its own', (t) => {
  for (const text of ['tap.beforeEach(() => 0)', 'const root = tap.testdir()', 'x\ntap.setTimeout(1)']) {
    t.ok(setsRootTest(text), text)
  }
  for (const text of ['tap.teardown(() => 0)', "import tap, { test } from 'tap'", 't.testdir()']) {
    t.notOk(setsRootTest(text), text)
  }
  t.end()
})
