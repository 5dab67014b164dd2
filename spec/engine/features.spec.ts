import { test } from 'tap'
import { CHANGES } from '../../engine/events/changes.ts'
import { featureRules, features } from '../../engine/features.ts'
import { merged } from '../../engine/merged.ts'

test('a name that two features have is refused at the start', async (t) => {
  t.same(merged<object>([{ a: 1 }, { b: 2 }]), { a: 1, b: 2 })
  t.throws(() => merged<object>([{ a: 1 }, { a: 1 }]), {
    message: 'two features have a "a"; give one of them another name',
  })
})

test('changes of all features have names and kinds of their own', async (t) => {
  const all = Object.values(CHANGES)
  t.equal(new Set(all.map(({ name }) => name)).size, all.length)
  t.equal(new Set(all.map(({ code }) => code)).size, all.length)
})

test('what a feature says of a command is about a command that its rules decide', async (t) => {
  for (const { rules, audited, unattempted } of features) {
    for (const kind of [...Object.keys(audited), ...unattempted]) t.ok(kind in rules, kind)
  }
  t.equal(Object.keys(featureRules).length, features.flatMap(({ rules }) => Object.keys(rules)).length)
})
