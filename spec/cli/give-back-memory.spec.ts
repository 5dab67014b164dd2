import { setImmediate } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { test } from 'tap'
import { giveBackMemory } from '../../engine/give-back-memory.ts'

test('what nothing refers to is given back', async (t) => {
  const garbage = new WeakRef({ text: 'of a start' })
  const held = { text: 'in use' }
  const kept = new WeakRef(held)
  // A weak reference keeps what it refers to until the end of the turn in which it was made.
  await setImmediate()
  t.ok(garbage.deref(), 'not collected before')
  await setImmediate()
  giveBackMemory()
  t.equal(garbage.deref(), undefined)
  t.equal(kept.deref(), held)
})

test('the flag stays, since another thread may be between setting it and using it', (t) => {
  giveBackMemory()
  t.equal(runInNewContext('typeof gc'), 'function')
  t.end()
})
