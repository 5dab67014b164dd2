/** Webhooks that are disabled, or deleted, while their deliveries are under way and before these are reported. */
import * as fc from 'fast-check'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Operation } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { isKnown } from '../../model/operations/listed-names.ts'
import { createWebhook, setWebhookStatus } from '../../model/operations/webhooks.ts'
import { putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { Step } from '../../model/steps.ts'
import { EVENT_TYPES } from '../../../engine/events/values.ts'
import { worldOf } from './world-store.ts'

/** Receivers accept whose number is a multiple of this (`receivers.ts`). */
const ACCEPTS = 9
const WRITES = 3
/** Shorter than the second after which attempts are reported at the latest. */
const ATTEMPTS = 3

class HastyWebhook extends Step {
  readonly #number: number
  readonly #place: PlaceChoice
  readonly #comesBack: boolean

  constructor(number: number, place: PlaceChoice, comesBack: boolean) {
    super(`a webhook is disabled before its deliveries are reported${comesBack ? ', and enabled again' : ''}`)
    this.#number = number
    this.#place = place
    this.#comesBack = comesBack
  }

  override check({ worlds }: Model): boolean {
    return worlds.length === 1
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const { jobs } = worldOf(store)
    const carryOut = (operation: Operation) => model.carryOut(store, operation, 'hasty webhook')
    model.log.push(String(this))
    const before = new Set(model.world.webhooks.keys())
    const target = `http://127.0.0.1:1/${ACCEPTS * (2 ** 30 + this.#number)}`
    await carryOut(createWebhook({ target, eventTypes: EVENT_TYPES, bucket: undefined, enabled: true }))
    const id = [...model.world.webhooks.keys()].find((one) => !before.has(one) && isKnown(one))
    // So that what went before is reported, and the next report is a second away.
    await jobs.deliver(2)
    const place = choosePlace(model, this.#place, 'a key')
    for (let count = 0; count < WRITES; count += 1) {
      const content = contentOf(count, 11)
      await carryOut(putObject({ ...place, content, headers: [], lock: {}, condition: UNCONDITIONAL }))
    }
    await jobs.attempt(ATTEMPTS)
    if (id === undefined) return
    await carryOut(setWebhookStatus(id, false))
    if (this.#comesBack) await carryOut(setWebhookStatus(id, true))
    await compare(model, store)
  }
}

export const hastyWebhookStep: fc.Arbitrary<Step> = fc
  .record({ number: fc.nat(2 ** 20), at: placeChoice, comesBack: fc.boolean() })
  .map(({ number, at, comesBack }) => new HastyWebhook(number, at, comesBack))
