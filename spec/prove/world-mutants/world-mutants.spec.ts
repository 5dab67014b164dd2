import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { tableWith } from '../../support/pages/markdown-tables.ts'
import { MUTANTS } from '../mutants/mutant-list.ts'
import { inhabitantsOf, type WorldMutant, worldsOf } from './mutant.ts'
import { WORLD_MUTANTS } from './mutant-list.ts'
import { tryMutant } from './world-mutants.ts'

test('names are names of one, and every mutant of the proof `mutants` is among them', (t) => {
  const names = WORLD_MUTANTS.map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
  for (const { name } of MUTANTS) t.ok(names.includes(name), name)
  for (const { breakage } of WORLD_MUTANTS) {
    if (breakage !== undefined)
      t.ok(
        MUTANTS.some(({ name }) => name === breakage),
        breakage,
      )
  }
  t.end()
})

test('the page has them, with what is expected of each', (t) => {
  const rows = WORLD_MUTANTS.map(({ name, expected }) =>
    'within' in expected
      ? [name, `within ${expected.within}`, '']
      : [name, `not within ${expected.notWithin}`, expected.because],
  )
  const found = tableWith('spec/design/world.md', 'mutant | worlds | why it is not found')
  t.same(found, rows)
  t.end()
})

function tried(t: Test, mutant: Pick<WorldMutant, 'edits' | 'breakage'>, worlds: number, inhabitants = 15) {
  const directory = fs.mkdtempSync(join(tmpdir(), 'world-mutant-'))
  t.teardown(() => fs.rmSync(directory, { recursive: true, force: true }))
  return tryMutant(mutant, worlds, inhabitants, directory)
}

test('a program without a fault is not found, one with a fault is, and so is one that ends', async (t) => {
  t.same(await tried(t, { edits: [] }, 1), { worlds: 1, finding: undefined })
  const [easiest] = WORLD_MUTANTS.filter(({ expected }) => 'within' in expected).toSorted(
    (left, right) => worldsOf(left) - worldsOf(right),
  )
  if (easiest === undefined) throw new Error('no mutant is found by anything')
  const { finding } = await tried(t, easiest, worldsOf(easiest), inhabitantsOf(easiest))
  t.type(finding, 'string', easiest.name)
  const ends = { file: 'engine/domain/bucket', search: "'create-bucket'(command", replacement: '' }
  const { finding: end } = await tried(t, { edits: [ends] }, 1)
  t.match(end, /^the process ended: .*SyntaxError/s)
})
