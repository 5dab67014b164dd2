/** What a mutant is: a fault that is put into a copy of the compiled program, and what the proof `world` makes of it. */

/** One text of a compiled file, exchanged for another. */
export interface Edit {
  /** Path from the root of the checkout, without its extension. */
  readonly file: string
  /** Stands in the compiled file exactly once. */
  readonly search: string
  readonly replacement: string
}

/** Kinds of steps that worlds had when it was first counted after how many of them mutants are found. */
const FIRST_INHABITANTS = 15

/** Kinds of steps that worlds had when this was counted; by default those of the first count. */
interface Counted {
  readonly inhabitants?: number
}

/** What is expected of the worlds with the seeds from 1 on. */
export type Expectation =
  /** In one of the first so many worlds something does not hold. */
  | ({ readonly within: number } & Counted)
  /** In the first so many worlds everything holds, and why. */
  | ({ readonly notWithin: number; readonly because: string } & Counted)

export interface WorldMutant {
  readonly name: string
  readonly edits: readonly Edit[]
  /** Name of a mutant of `spec/prove/mutants`, which stands between the store and its disk; it has no edits. */
  readonly breakage?: string
  readonly expected: Expectation
}

/** How many worlds show whether a mutant is as expected. */
export function worldsOf({ expected }: Pick<WorldMutant, 'expected'>): number {
  return 'within' in expected ? expected.within : expected.notWithin
}

/** How many kinds of steps these have. */
export function inhabitantsOf({ expected }: Pick<WorldMutant, 'expected'>): number {
  return expected.inhabitants ?? FIRST_INHABITANTS
}
