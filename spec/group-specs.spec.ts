import { test } from 'tap'
import { groupsOf, setsRootTest } from './group-specs.ts'

const names = (folder: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${folder}/${String(index).padStart(2, '0')}.spec.js`)

test('specs of a folder share processes, and each is in one', (t) => {
  const all = [...names('cli', 25), ...names('engine/journal', 3), ...names('engine', 2), 'documents.spec.js']
  const groups = groupsOf(all, () => false)
  t.same(
    groups.map(({ name, specs }) => [name, specs.length]),
    [
      ['cli, 1 of 3', 9],
      ['cli, 2 of 3', 8],
      ['cli, 3 of 3', 8],
      ['engine, 1 of 1', 5],
      ['documents.spec.js', 1],
    ],
  )
  t.same(groups.flatMap(({ specs }) => specs).toSorted(), all.toSorted())
  t.end()
})

test('folders of planes are their own, and so is what is to run alone', (t) => {
  const all = [
    'planes/http.spec.js',
    'planes/http-tls.spec.js',
    'planes/s3/audit.spec.js',
    'planes/s3/cors/wire.spec.js',
  ]
  t.same(
    groupsOf(all, (name) => name === 'planes/http-tls.spec.js').map(({ name }) => name),
    ['planes/http.spec.js', 'planes/http-tls.spec.js', 'planes/s3, 1 of 1'],
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
