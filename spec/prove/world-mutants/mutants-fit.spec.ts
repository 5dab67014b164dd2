import { test } from 'tap'
import { EditError, mutated } from './mutated-program.ts'
import { WORLD_MUTANTS } from './mutant-list.ts'

test('each mutant fits the program that is shipped', (t) => {
  for (const { name, edits, breakage } of WORLD_MUTANTS) {
    t.ok(edits.length > 0 !== (breakage !== undefined), `${name}: edits, or a store that is broken from outside`)
    for (const file of new Set(edits.map((edit) => edit.file))) {
      const text = mutated(edits, file)
      for (const edit of edits) if (edit.file === file) t.ok(text.includes(edit.replacement), name)
    }
  }
  t.end()
})

test('an edit whose text is not there, or there twice, is told', (t) => {
  for (const search of ['no such text', 'bucket']) {
    t.throws(
      () => mutated([{ file: 'engine/domain/bucket', search, replacement: '' }], 'engine/domain/bucket'),
      EditError,
    )
  }
  t.end()
})
