import { ALPHABET, type Letter } from './alphabet.ts'

const LETTERS_MAXIMUM = 3
const AND = ' & '
/** A cycle goes through one of so many shares of the sequences; as many cycles go through all of them. */
export const CYCLES = 8

/** Every sequence of letters of some length. */
function sequences(length: number): string[][] {
  if (length === 0) return [[]]
  return sequences(length - 1).flatMap((begun) => Object.keys(ALPHABET).map((letter) => [...begun, letter]))
}

/** Two letters at once, in one batch. Rotations are many commands, and never share one. */
function pairs(): string[][] {
  const letters = Object.keys(ALPHABET).filter((letter) => letter !== 'rotate')
  return letters.flatMap((first) => letters.map((second) => [first + AND + second]))
}

const ALL = [...Array.from({ length: LETTERS_MAXIMUM }, (_, index) => sequences(index + 1)).flat(), ...pairs()]

/** The letters of one element of a sequence, which are sent at once. */
export function lettersOf(element: string): Letter[] {
  return element.split(AND).map((name) => ALPHABET[name] as Letter)
}

export function isAtOnce(sequence: readonly string[]): boolean {
  return sequence.some((element) => element.includes(AND))
}

/** The sequences of some cycles. Which they are is up to the seed; from `CYCLES` on they are all. */
export function chosen(cycles: number, seed: number): string[][] {
  // Shuffled by a multiplication: neighbours have most of their letters in common.
  return ALL.filter((_, index) => ((Math.imul(index, 2_654_435_761) >>> 8) + seed) % CYCLES < cycles)
}
