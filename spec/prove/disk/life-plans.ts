/** What becomes of one start of a store. */
import type { Random } from '../../support/random.ts'

/** How the disk fails a running store. */
export type FaultKind = 'error once' | 'error for ever' | 'sync that lies' | 'short write' | 'disk full'

export interface LifePlan {
  readonly title: string
  /** The power, or the process, goes within so many operations of the opening; undefined: it does not. */
  readonly opensFor: number | undefined
  /** The same for the time after the opening. */
  readonly worksFor: number | undefined
  /** Whether those operations are all of them, or syncs of files alone: most is at stake before a sync. */
  readonly counted: 'all' | 'syncs'
  readonly fault: FaultKind | undefined
  /** What ends it; `stop` is a stop in order, which the power may cut short. */
  readonly end: 'power' | 'kill' | 'stop'
}

type Recipe = (random: Random) => Omit<LifePlan, 'title' | 'counted'>

const OPENING_OPERATIONS = 45
const WORKING_OPERATIONS = 50
const FAULTS: readonly FaultKind[] = ['error once', 'error for ever', 'sync that lies', 'short write', 'disk full']

const RECIPES: Readonly<Record<string, { readonly weight: number; readonly recipe: Recipe }>> = {
  'loses power while it works': {
    weight: 10,
    recipe: (random) => ({
      opensFor: undefined,
      worksFor: 1 + random.below(WORKING_OPERATIONS),
      fault: undefined,
      end: 'power',
    }),
  },
  'loses power while it opens': {
    weight: 6,
    recipe: (random) => ({
      opensFor: 1 + random.below(OPENING_OPERATIONS),
      worksFor: undefined,
      fault: undefined,
      end: 'power',
    }),
  },
  'is killed while it works': {
    weight: 3,
    recipe: (random) => ({
      opensFor: undefined,
      worksFor: 1 + random.below(WORKING_OPERATIONS),
      fault: undefined,
      end: 'kill',
    }),
  },
  'is killed while it opens': {
    weight: 2,
    recipe: (random) => ({
      opensFor: 1 + random.below(OPENING_OPERATIONS),
      worksFor: undefined,
      fault: undefined,
      end: 'kill',
    }),
  },
  'meets a fault of the disk': {
    weight: 6,
    recipe: (random) => ({
      opensFor: undefined,
      worksFor: undefined,
      fault: random.of(FAULTS),
      end: random.of(['kill', 'kill', 'power']),
    }),
  },
  'stops in order': {
    weight: 2,
    recipe: () => ({ opensFor: undefined, worksFor: undefined, fault: undefined, end: 'stop' }),
  },
  'loses power while it stops': {
    weight: 1,
    recipe: (random) => ({
      opensFor: undefined,
      worksFor: 1 + random.below(2 * WORKING_OPERATIONS),
      fault: undefined,
      end: 'stop',
    }),
  },
}

const TITLES = Object.entries(RECIPES).flatMap(([title, { weight }]) => Array.from({ length: weight }, () => title))

export function lifePlan(random: Random): LifePlan {
  const title = random.of(TITLES)
  const { recipe } = RECIPES[title] as (typeof RECIPES)[string]
  const { worksFor, ...plan } = recipe(random)
  const counted = random.of(['all', 'syncs'] as const)
  return { title, ...plan, counted, worksFor: worksFor && (counted === 'all' ? worksFor : Math.ceil(worksFor / 4)) }
}
