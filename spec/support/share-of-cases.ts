/**
 * Which cases a run tries that is not to try all of them. A spec of `npm test` tries every nth and of every kind at least one,
 * always the same; all of them with `SPEC_FULL=1`, which `.ci/nightly` sets. A proof takes its share by chance from its seed.
 */
import type { Random } from './random.ts'

/** Whether specs try all cases. */
const isFull = process.env['SPEC_FULL'] === '1'

/**
 * What a loop of a spec adds to its counter, where nobody knows before how many cases there are.
 * @param nth of so many cases one is tried. A prime is best: cases often repeat in pairs and fours
 */
export function strideOf(nth: number, full = isFull): number {
  return full ? 1 : nth
}

/**
 * How many cases made by chance a spec tries.
 * @param all with SPEC_FULL
 * @param few without
 */
export function runsOf(all: number, few: number, full = isFull): number {
  return full ? all : few
}

/**
 * Every nth case, the last one, and the first of each kind.
 * @param nth as for `strideOf`
 * @param kindsOf what a case stands for, such as its operation and its sender
 * @returns in the order of the cases
 */
export function everyNth<T>(
  cases: readonly T[],
  nth: number,
  kindsOf: (one: T) => readonly unknown[] = () => [],
  full = isFull,
): readonly T[] {
  if (full) return cases
  const met = new Set<unknown>()
  return cases.filter((one, index) => {
    const kinds = kindsOf(one)
    if (index % nth !== 0 && index !== cases.length - 1 && kinds.every((kind) => met.has(kind))) return false
    for (const kind of kinds) met.add(kind)
    return true
  })
}

/**
 * A share of the cases, chosen by chance, and of every kind at least one.
 * @param part from 0 to 1; 1 takes all, and takes nothing from chance
 * @param kindsOf what a case stands for, such as its operation and its sender
 * @returns in the order of the cases
 */
export function shareOfCases<T>(
  cases: readonly T[],
  part: number,
  random: Random,
  kindsOf: (one: T) => readonly string[],
): readonly T[] {
  if (part >= 1) return cases
  const met = new Set<string>()
  const taken = new Set<number>()
  for (const index of shuffled([...cases.keys()], random)) {
    const isByChance = random.below(CHANCES) < part * CHANCES
    const kinds = kindsOf(cases[index] as T)
    if (!isByChance && kinds.every((kind) => met.has(kind))) continue
    for (const kind of kinds) met.add(kind)
    taken.add(index)
  }
  return cases.filter((_, index) => taken.has(index))
}

const CHANCES = 2 ** 20

/** The items in an order of chance. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const order = [...items]
  for (let index = order.length - 1; index > 0; index -= 1) {
    const other = random.below(index + 1)
    const moved = order[index] as T
    order[index] = order[other] as T
    order[other] = moved
  }
  return order
}
