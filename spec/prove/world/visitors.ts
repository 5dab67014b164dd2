/** Inhabitants whose requests no model has: strangers, visitors with a presigned link, readers that stop reading. */
import * as fc from 'fast-check'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { readObject } from '../../model/operations/reads.ts'
import type { Recipe } from '../../model/recipes.ts'
import { requestsTogether } from '../../model/step-mix.ts'
import { Step } from '../../model/steps.ts'
import { type Guise, sendAsStranger } from './strangers.ts'
import { worldOf } from './world-store.ts'

/** What anybody is answered whom the store does not know; a malformed request may be told so before. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403])

/** Requests of somebody the store does not know: they are refused, and change nothing. */
class Strangers extends Step {
  readonly #recipes: readonly Recipe[]
  readonly #place: PlaceChoice
  readonly #guise: Guise

  constructor(recipes: readonly Recipe[], place: PlaceChoice, guise: Guise) {
    super(`a stranger comes, ${guise}`)
    this.#recipes = recipes
    this.#place = place
    this.#guise = guise
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    for (const recipe of this.#recipes) {
      const operation = recipe.build(model, choosePlace(model, this.#place, recipe.wants))
      if (operation === undefined) continue
      const { request } = operation
      const { status } = await sendAsStranger(worldOf(store), request, this.#guise)
      model.tally.add('stranger', REFUSALS.has(status) ? 'done' : 'refused')
      if (!REFUSALS.has(status)) {
        throw new Error(`a stranger (${this.#guise}) was answered ${status}: ${request.method} ${request.target}`)
      }
    }
    await compare(model, store)
  }
}

/** A read by a link that carries its signature. */
class Visitor extends Step {
  readonly #place: PlaceChoice

  constructor(place: PlaceChoice) {
    super('a visitor with a presigned link')
    this.#place = place
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const place = choosePlace(model, this.#place, 'a key')
    const operation = readObject({ method: 'GET', ...place })
    const answer = await worldOf(store).visit(place)
    model.tally.count('visitor', answer)
    model.settle([{ operation, answer }])
  }
}

/** A client reads nothing of its answer while others write, and is cut off; then everything is read. */
class Stalled extends Step {
  readonly #recipes: readonly Recipe[]
  readonly #place: PlaceChoice

  constructor(recipes: readonly Recipe[], place: PlaceChoice) {
    super('a reader stops reading')
    this.#recipes = recipes
    this.#place = place
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const place = choosePlace(model, this.#place, 'a key')
    const operations = this.#recipes.flatMap((recipe) => recipe.build(model, place) ?? [])
    model.log.push(String(this))
    const world = worldOf(store)
    const { request } = readObject({ method: 'GET', ...place })
    const stalled = world.readNothing(request)
    const answers = await Promise.all(operations.map((operation) => store.send(operation.request)))
    // A read of an object that is deleted meanwhile may end early (spec/decisions/0018).
    const whole = answers.map((answer) => (answer.complete ? answer : undefined))
    model.settle(operations.map((operation, index) => ({ operation, answer: whole[index] })))
    model.tally.add('stalled reader', (await stalled) === undefined ? 'done' : 'refused')
    await compare(model, store)
  }
}

const guise = fc.constantFrom<Guise>('without a signature', 'with a wrong secret', 'with an unknown key', 'too late')

export const visitorStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .record({ recipes: requestsTogether, at: placeChoice, guise })
      .map((each) => new Strangers(each.recipes, each.at, each.guise)),
  },
  { weight: 3, arbitrary: placeChoice.map((at) => new Visitor(at)) },
  {
    weight: 1,
    arbitrary: fc
      .record({ recipes: requestsTogether, at: placeChoice })
      .map((each) => new Stalled(each.recipes, each.at)),
  },
)
