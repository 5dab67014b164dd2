/** Work that operators ask for, and work that is done to its end. */
import * as fc from 'fast-check'
import { API } from '../../../planes/management/routing/define-route.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { worldOf } from './world-store.ts'

const SCRUB = `${API}/storage/scrub`

/** All workers work until nothing is left to do, mostly on what a scrub reads. */
class FinishedWork extends Step {
  readonly #scrubs: boolean

  constructor(scrubs: boolean) {
    super(`workers finish${scrubs ? ', a scrub that was asked for too' : ''}`)
    this.#scrubs = scrubs
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    model.log.push(String(this))
    if (this.#scrubs) {
      const { status, text } = await world.manage('POST', SCRUB, '')
      model.tally.count('scrub', { status })
      if (status !== 202) throw new Error(`POST ${SCRUB}: ${status} ${text}`)
    }
    await world.jobs.finish()
    await compare(model, store)
  }
}

/** All rows and snapshots are read, as a server reads them once a day. */
class DailyChecks extends Step {
  constructor() {
    super('all rows and snapshots are read')
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    await worldOf(store).jobs.checkAll()
    await compare(model, store)
  }
}

export const dailyCheckStep: fc.Arbitrary<Step> = fc.constant(undefined).map(() => new DailyChecks())

export const workStep: fc.Arbitrary<Step> = fc.boolean().map((scrubs) => new FinishedWork(scrubs))
