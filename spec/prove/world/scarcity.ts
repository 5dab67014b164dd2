/** Something that requests share is all in use for a while: they wait or are refused by name, and afterwards all is as it was. */
import * as fc from 'fast-check'
import { shareNames, type ShareName } from '../../../engine/shares/share-table.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { exchangeText } from '../../model/settle.ts'
import type { Recipe } from '../../model/recipes.ts'
import { requestsTogether } from '../../model/step-mix.ts'
import { Step } from '../../model/steps.ts'
import { turns } from './crowd.ts'
import { holdAllBut, requireSharesBack, sharesInUse } from './shares-in-use.ts'
import { saysNothingChanged } from './strikes.ts'
import { worldOf } from './world-store.ts'

/** What was taken is given back after so many turns of the loop. */
const TURNS = 30
/** Reads of the management plane that need something of what is shared. */
const LOOKS = [
  `${API}/audit/events?limit=5`,
  `${API}/audit/export?format=json`,
  `${API}/events?limit=5`,
  `${API}/reports/retention`,
  `${API}/openapi.json`,
]

class Scarcity extends Step {
  readonly #name: ShareName
  readonly #recipes: readonly Recipe[]
  readonly #place: PlaceChoice

  constructor(name: ShareName, recipes: readonly Recipe[], place: PlaceChoice) {
    super(`all ${name} are in use for a while`)
    this.#name = name
    this.#recipes = recipes
    this.#place = place
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const wants = this.#recipes.find((recipe) => recipe.wants !== 'nothing')?.wants ?? 'nothing'
    const at = choosePlace(model, this.#place, wants)
    const sent = this.#recipes.flatMap((recipe) => {
      const operation = recipe.build(model, at)
      return operation === undefined ? [] : { name: recipe.name, operation }
    })
    await world.rest()
    const before = sharesInUse()
    model.log.push(String(this))
    const giveBack = holdAllBut(0, this.#name)
    const looking = Promise.all(LOOKS.map((target) => world.manage('GET', target, '')))
    const sending = Promise.all(sent.map(({ operation }) => world.send(operation.request)))
    await turns(TURNS)
    giveBack()
    const answers = await sending
    const looks = await looking
    const exchanges = sent.flatMap(({ name, operation }, index) => {
      const answer = answers[index]
      model.tally.count(name, answer)
      if (answer === undefined || !saysNothingChanged(answer)) return { operation, answer }
      model.log.push(exchangeText({ operation, answer }))
      return []
    })
    if (exchanges.length > 0) model.settle(exchanges)
    for (const [index, { status, text }] of looks.entries()) {
      const isRefused = status === 503 && text.includes('SLOW_DOWN')
      if (status !== 200 && !isRefused) throw new Error(`GET ${LOOKS[index]}: ${status} ${text.slice(0, 200)}`)
    }
    await world.rest()
    await requireSharesBack(before, this.toString())
    await compare(model, store)
  }
}

export const scarcityStep: fc.Arbitrary<Step> = fc
  .record({ name: fc.constantFrom(...shareNames), recipes: requestsTogether, at: placeChoice })
  .map(({ name, recipes, at }) => new Scarcity(name, recipes, at))
