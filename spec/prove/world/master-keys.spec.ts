/** The master key of a world's store changes, also by a start that is cut short; a change that is lost is noticed. */
import { test } from 'tap'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { KeyChange } from './master-keys.ts'
import { runWorld, stepsOf } from './world.ts'
import { worldOf } from './world-store.ts'

/** Operations of the start that changes the key: before the store is opened, in the change, and after it. */
const OPERATIONS = [1, 20, 35, 50, 65, 80]

test('a start that is cut short anywhere leaves a store that has the key at the next', async (t) => {
  // Of the first 35 kinds: among later ones a change of the key would come by chance.
  const others = stepsOf({ seed: 1, steps: 2 * OPERATIONS.length, inhabitants: 35 })
  const steps = OPERATIONS.flatMap((operations, index) => [
    ...others.slice(2 * index, 2 * index + 2),
    new KeyChange('power', { end: index % 2 === 0 ? 'power' : 'kill', operations }, false),
  ])
  const { finding, tally } = await runWorld(
    { seed: 1, steps: 0 },
    { steps: [...steps, new KeyChange('stop', undefined, true)] },
  )
  t.equal(finding, undefined)
  t.equal(tally.counts.get('key change')?.done, OPERATIONS.length + 1)
})

class LostChange extends Step {
  constructor() {
    super('a change of the master key that no start makes')
  }

  async run(_model: Model, store: ModelStore): Promise<void> {
    worldOf(store).host.keyChanges += 1
  }
}

test('a change that no start has made is noticed', async (t) => {
  const { finding } = await runWorld({ seed: 1, steps: 0 }, { steps: [new LostChange()] })
  t.equal(finding, 'the master key was changed 0 times, not 1')
})
