/** What a power cut may leave: one decision for each thing that was not synced yet. */
import type { Random } from '../../support/random.ts'

/**
 * One thing that a crash decides. `options` outcomes are legal, numbered from 0, and 0 is always what was durable
 * before: nothing of it reached the medium.
 */
export interface CrashChoice {
  /**
   * `name`: a name in a directory that was bound or removed. `length`: the length of a file. `sector`: the content of
   * one sector. `mode`: whether the file is read-only.
   */
  readonly what: 'name' | 'length' | 'sector' | 'mode'
  /** Of the directory or file, as it was made. */
  readonly path: string
  /** What of it: the names of the operation, or the number of the sector. */
  readonly detail: string
  readonly options: number
}

/** Decides: returns a number from 0 to `options` - 1. Asked in an order that only depends on the answers before. */
export type CrashDecision = (choice: CrashChoice) => number

/** Everything that was not synced is lost. */
export const nothingLands: CrashDecision = () => 0

/**
 * By chance. Crashes are not all of one kind: some lose next to everything, some next to nothing, most are mixed.
 */
export function byChance(random: Random): CrashDecision {
  const kind = random.below(6)
  if (kind === 0) return nothingLands
  // Of a hundred: how often a thing takes what was durable before, whatever its other outcomes are.
  const lostInHundred = ([0, 10, 10, 50, 90, 90] as const)[kind] ?? 50
  return ({ options }) => {
    if (lostInHundred === 50) return random.below(options)
    return random.below(100) < lostInHundred ? 0 : 1 + random.below(options - 1)
  }
}

/**
 * Every legal outcome, one after the other: depth first through the tree of decisions.
 * @param crash makes the outcome of one path through the tree, asking for each decision on it
 * @param maximum outcomes at most
 * @throws RangeError when there are more: a world that is said to be tried out wholly must not be cut short in silence
 */
export function* everyOutcome<T>(crash: (decide: CrashDecision) => T, maximum: number): Generator<T> {
  let path: { choice: number; readonly options: number }[] = []
  for (let count = 1; ; count += 1) {
    if (count > maximum) throw new RangeError(`more than ${maximum} outcomes`)
    let depth = 0
    yield crash(({ options }) => {
      const known = path[depth]
      depth += 1
      if (known !== undefined) return known.choice
      path.push({ choice: 0, options })
      return 0
    })
    path = path.slice(0, depth)
    while (path.length > 0 && (path.at(-1)?.choice ?? 0) + 1 >= (path.at(-1)?.options ?? 0)) path.pop()
    const last = path.at(-1)
    if (last === undefined) return
    last.choice += 1
  }
}
