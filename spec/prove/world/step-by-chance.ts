/** A step of a world whose course follows from a seed, about a place that is chosen when it comes. */
import * as fc from 'fast-check'
import { choosePlace, type Place, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import { type WorldStore, worldOf } from './world-store.ts'

/** What a step by chance acts on. */
export interface Chance {
  readonly model: Model
  readonly world: WorldStore
  readonly place: Place
  readonly random: Random
}

/** @param choose where the place is now: what is in the store may have changed */
type Course = (chance: Chance, choose: () => Place) => Promise<void>

class ByChance extends Step {
  readonly #at: PlaceChoice
  readonly #seed: number
  readonly #course: Course

  constructor(name: string, at: PlaceChoice, seed: number, course: Course) {
    super(name)
    this.#at = at
    this.#seed = seed
    this.#course = course
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    const choose = () => choosePlace(model, this.#at, 'a key')
    await this.#course({ model, world: worldOf(store), place: choose(), random: new Random(this.#seed) }, choose)
  }
}

/** @param name of the step in the log of the model @throws what `course` throws, when the step is run */
export function stepByChance(name: string, course: Course): fc.Arbitrary<Step> {
  return fc
    .record({ at: placeChoice, seed: fc.nat(2 ** 31 - 1) })
    .map(({ at, seed }) => new ByChance(name, at, seed, course))
}
