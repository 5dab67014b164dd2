/** One world: what happens in it, by its seed, and whether everything held. */
import * as fc from 'fast-check'
import type { Disk } from '../../../engine/disk/disk.ts'
import { compareFully } from '../../model/comparison.ts'
import { requireNoLeftovers } from '../../model/leftovers.ts'
import { FIRST_CLOCK, Model, Tally } from '../../model/model.ts'
import { prepare } from '../../model/run-sequences.ts'
import type { Step } from '../../model/steps.ts'
import { replaceLmdb } from '../small-world/memory-projections.ts'
import { simulateChance } from './simulated-chance.ts'
import { simulateThreads } from './simulated-threads.ts'
import { SimulatedTime } from './simulated-time.ts'
import { requireUsage } from './usage.ts'
import { WorldHost } from './world-host.ts'
import { worldStep } from './world-steps.ts'
import { WorldStore } from './world-store.ts'

/** Steps of a world; with what is read after strikes it comes to some 250 requests. */
export const STEPS = 40

/** What is known of a world before it is lived through. */
export interface WorldSeed {
  readonly seed: number
  /** Steps that the seed gives. */
  readonly steps: number
  /** Numbers of the steps that are taken, in order, where it is not all of them. */
  readonly kept?: readonly number[]
  /** Kinds of steps that there were when the seed was found; by default those of today. */
  readonly inhabitants?: number
}

export interface WorldOptions {
  /** Called with each request and its answer. */
  readonly record?: (line: string) => void
  /** Stands between store and disk, for stores that are broken on purpose. */
  readonly wrap?: (disk: Disk) => Disk
  /** What happens, in place of what the seed gives. */
  readonly steps?: readonly Step[]
}

export interface WorldReport {
  /** What did not hold; undefined where everything did. */
  readonly finding: string | undefined
  /** What happened, line by line. */
  readonly log: readonly string[]
  readonly tally: Tally
  /** See `coverage.ts`. */
  readonly met: ReadonlySet<string>
  readonly requests: number
  /** Starts after the first one. */
  readonly restarts: number
}

/** The steps of a world; the same for the same seed. */
export function stepsOf({ seed, steps, kept, inhabitants }: WorldSeed): Step[] {
  const all = fc.sample(worldStep(inhabitants), { seed, numRuns: steps })
  return kept === undefined ? all : kept.flatMap((index) => all[index] ?? [])
}

/** Lives through a world. Clocks, timers, chance and projections of this thread are the world's while it lasts. */
export async function runWorld(world: WorldSeed, options: WorldOptions = {}): Promise<WorldReport> {
  const steps = options.steps ?? stepsOf(world)
  const host = new WorldHost(world.seed, options.wrap)
  host.network.record = options.record
  let store: WorldStore | undefined
  const model = new Model(new Tally(), () => store?.journalTime ?? 0)
  const putLmdbBack = replaceLmdb(() => host.projections)
  const putChanceBack = simulateChance(world.seed)
  const putThreadsBack = simulateThreads()
  const time = new SimulatedTime(FIRST_CLOCK)
  let finding: string | undefined
  try {
    await time.until(
      WorldStore.open(host, time).then((opened) => {
        store = opened
        return live(opened, model, steps)
      }),
    )
  } catch (error) {
    finding = error instanceof Error && error.name === 'Error' ? error.message : String(error)
  } finally {
    time.restore()
    putThreadsBack()
    putChanceBack()
    putLmdbBack()
  }
  return {
    finding,
    log: model.log,
    tally: model.tally,
    met: host.met,
    requests: host.network.requests,
    restarts: model.restarts,
  }
}

async function live(store: WorldStore, model: Model, steps: readonly Step[]): Promise<void> {
  await prepare(model, store)
  for (const step of steps) {
    if (!step.check(model)) continue
    await step.run(model, store)
    requireUsage(model, store.server)
  }
  await compareFully(model, store)
  await requireNoLeftovers(model, store, store.counts)
  await store.end()
}
