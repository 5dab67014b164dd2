import type { Random } from '../../support/random.ts'
import { type Ingredients, mutated } from './mutation.ts'
import { type FuzzTarget, longestOf, type Verdict } from './target.ts'

/** Inputs that are kept to make others from. */
const KEPT_MAXIMUM = 300
const KEPT_BYTES_MAXIMUM = 8 * 1024

/** Makes the inputs of one target, and learns from the answers which of them are worth making others from. */
export class InputSource {
  readonly #target: FuzzTarget
  readonly #random: Random
  readonly #seeds: readonly Buffer[]
  readonly #kept: Buffer[] = []
  readonly #outcomes = new Set<string>()
  readonly #ingredients: Ingredients

  /** @param corpus inputs of earlier runs */
  constructor(target: FuzzTarget, random: Random, corpus: readonly Buffer[]) {
    this.#target = target
    this.#random = random
    this.#seeds = [...target.seeds.map((seed) => Buffer.from(seed as Buffer)), ...corpus]
    const bytesMaximum = longestOf(target)
    const words = (target.words ?? []).map((word) => Buffer.from(word as Buffer))
    this.#ingredients = { words, others: this.#seeds, bytesMaximum }
  }

  /** What every run begins with. */
  get seeds(): readonly Buffer[] {
    return this.#seeds
  }

  next(): Buffer {
    const { make, repair } = this.#target
    const { bytesMaximum } = this.#ingredients
    const random = this.#random
    const isMade = make !== undefined && random.below(3) === 0
    const parent = isMade ? Buffer.from(make(random) as Buffer) : this.#parent()
    const input = isMade && random.below(2) === 0 ? parent : mutated(parent, random, this.#ingredients)
    const repaired = repair !== undefined && random.below(2) === 0 ? repair(input, random) : input
    return repaired.length > bytesMaximum ? repaired.subarray(0, bytesMaximum) : repaired
  }

  /** Keeps an input that gave an answer of a new class. */
  learn(input: Buffer, { outcome }: Verdict): void {
    if (this.#outcomes.has(outcome) || this.#outcomes.size >= KEPT_MAXIMUM) return
    this.#outcomes.add(outcome)
    if (input.length <= KEPT_BYTES_MAXIMUM) this.#kept.push(Buffer.from(input))
  }

  get outcomes(): number {
    return this.#outcomes.size
  }

  #parent(): Buffer {
    const learned = this.#kept.length > 0 && this.#random.below(2) === 0
    return this.#random.of(learned ? this.#kept : this.#seeds)
  }
}
