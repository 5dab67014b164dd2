/** A body that never comes to its end, when the server stops. */
import * as fc from 'fast-check'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { Step } from '../../model/steps.ts'
import { worldOf } from './world-store.ts'

/** Larger than what is read before an operation has its place. */
const BYTES = 66_000
/** That a server of a world gives requests to come to their end (`test-server.ts`), and for the answer that gives up. */
const GRACE_MILLISECONDS = 2000
const GIVING_UP_MILLISECONDS = 500

/** A stop takes no longer than its grace, and what was not whole changes nothing. */
class LateBody extends Step {
  readonly #place: PlaceChoice
  readonly #share: number

  constructor(place: PlaceChoice, share: number) {
    super('a body does not come to its end, and the server stops')
    this.#place = place
    this.#share = share
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const place = choosePlace(model, this.#place, 'nothing')
    const content = contentOf(1, BYTES)
    const operation = putObject({ ...place, content, headers: [], lock: {}, condition: UNCONDITIONAL })
    model.log.push(String(this))
    await world.rest()
    world.host.network.next = { stallShare: this.#share }
    const answer = world.send(operation.request).catch(() => undefined)
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const milliseconds = await world.stopAmid()
    const status = (await answer)?.status ?? 0
    if (status > 0 && status < 400) throw new Error(`half of a body is answered ${status}`)
    model.tally.add('late body', 'done')
    model.restarts += 1
    if (milliseconds > GRACE_MILLISECONDS + GIVING_UP_MILLISECONDS) {
      throw new Error(`a stop took ${milliseconds} ms, and its grace is ${GRACE_MILLISECONDS} ms`)
    }
    await world.up()
    await compare(model, store)
  }
}

export const lateBodyStep: fc.Arbitrary<Step> = fc
  .record({ at: placeChoice, share: fc.constantFrom(0.1, 0.5, 0.99) })
  .map(({ at, share }) => new LateBody(at, share))
