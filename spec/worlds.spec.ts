/** Worlds that are kept, each for what it found: see `design/world.md`. */
import { test } from 'tap'
import { keptWorlds } from './prove/world/corpus.ts'
import { runWorld } from './prove/world/world.ts'

test('everything holds in the worlds that are kept', async (t) => {
  const worlds = keptWorlds()
  t.ok(worlds.length > 0, `${worlds.length} worlds`)
  for (const { name, why, ...world } of worlds) {
    const { finding } = await runWorld(world)
    t.equal(finding, undefined, `${name}: ${why}`)
  }
})
