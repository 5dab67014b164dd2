/** Which cases of a matrix a run tries that is not to try all of them. */
import type { Random } from '../../support/random.ts'

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
