/** Finds the shortest story in which something still does not hold. */
import { runWorld, type WorldOptions, type WorldSeed } from './world.ts'

/** A shrunk world, and how many worlds were tried on the way. */
export interface Shrunk {
  readonly world: WorldSeed
  readonly tried: number
}

/**
 * Leaves out steps, at first many at once, as long as something does not hold in what is left.
 * @param triesMaximum worlds
 */
export async function shrink(world: WorldSeed, triesMaximum: number, options: WorldOptions = {}): Promise<Shrunk> {
  let kept: readonly number[] = world.kept ?? Array.from({ length: world.steps }, (_, index) => index)
  let tried = 0
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = kept.length; start > 0 && tried < triesMaximum; start -= size) {
      const without = [...kept.slice(0, Math.max(0, start - size)), ...kept.slice(start)]
      tried += 1
      const { finding } = await runWorld({ ...world, kept: without }, options)
      if (finding !== undefined) kept = without
    }
  }
  return { world: { ...world, kept }, tried }
}
