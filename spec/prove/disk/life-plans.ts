/** What becomes of one start of a store. */
import type { Random } from '../../support/random.ts'

/** How the disk fails a running store. */
export type FaultKind =
  | 'error once'
  | 'error for ever'
  | 'sync that fails'
  | 'sync that lies'
  | 'short write'
  | 'disk full'

export interface LifePlan {
  readonly title: string
  /** The power, or the process, goes within so many operations of the opening; undefined: it does not. */
  readonly opensFor: number | undefined
  /** The same for the time after the opening. */
  readonly worksFor: number | undefined
  /** Whether those operations are all of them, or syncs of files alone: most is at stake before a sync. */
  readonly counted: 'all' | 'syncs'
  readonly fault: FaultKind | undefined
  /** Whether objects come due and events are delivered, after everything else. */
  readonly ages: boolean
  /** What ends it; `stop` is a stop in order, which the power may cut short. */
  readonly end: 'power' | 'kill' | 'stop'
}

type Recipe = (random: Random) => Partial<LifePlan> & Pick<LifePlan, 'end'>

const OPENING_OPERATIONS = 45
const WORKING_OPERATIONS = 50
const FAULTS: readonly FaultKind[] = ['error once', 'error for ever', 'sync that lies', 'short write', 'disk full']

/** How often, what it is called, and what happens. */
const RECIPES: readonly (readonly [weight: number, title: string, recipe: Recipe])[] = [
  [10, 'loses power while it works', (random) => ({ worksFor: within(random, WORKING_OPERATIONS), end: 'power' })],
  [6, 'loses power while it opens', (random) => ({ opensFor: within(random, OPENING_OPERATIONS), end: 'power' })],
  [3, 'is killed while it works', (random) => ({ worksFor: within(random, WORKING_OPERATIONS), end: 'kill' })],
  [2, 'is killed while it opens', (random) => ({ opensFor: within(random, OPENING_OPERATIONS), end: 'kill' })],
  [
    6,
    'meets a fault of the disk',
    (random) => ({ fault: random.of(FAULTS), end: random.of(['kill', 'kill', 'power'] as const) }),
  ],
  [2, 'stops in order', () => ({ end: 'stop' })],
  [1, 'loses power while it stops', (random) => ({ worksFor: within(random, 2 * WORKING_OPERATIONS), end: 'stop' })],
]
const CHOICES = RECIPES.flatMap(([weight, ...row]) => Array.from({ length: weight }, () => row))

function within(random: Random, operations: number): number {
  return 1 + random.below(operations)
}

/** A life that nothing cuts short. */
export const UNDISTURBED = {
  opensFor: undefined,
  worksFor: undefined,
  fault: undefined,
  counted: 'all',
  ages: true,
} as const

export function lifePlan(random: Random): LifePlan {
  const [title, recipe] = random.of(CHOICES)
  const plan = { ...UNDISTURBED, ...recipe(random), title, counted: random.of(['all', 'syncs'] as const) }
  const { worksFor } = plan
  return { ...plan, worksFor: worksFor && (plan.counted === 'all' ? worksFor : Math.ceil(worksFor / 4)) }
}
