/** Checkpoints are signed, stamped, cosigned and published; a client looks at them, and the key of the log changes. */
import * as fc from 'fast-check'
import { API } from '../../../planes/management/routing/define-route.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { worldOf } from './world-store.ts'

const ROTATE = `${API}/transparency/key/rotate`
const SECONDS_MAXIMUM = 20

class Checkpoints extends Step {
  readonly #seconds: number

  constructor(seconds: number) {
    super(`${seconds} seconds of checkpoints, and a client who looks at the last`)
    this.#seconds = seconds
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    const world = worldOf(store)
    const clock = model.clock + 1000
    await store.setClock(clock)
    model.setClock(clock)
    await world.jobs.sign(this.#seconds)
    const isShown = await world.host.checkpoints.look((target) => world.manage('GET', target, ''))
    model.tally.add('checkpoint', isShown ? 'done' : 'refused')
  }
}

class Rotation extends Step {
  constructor() {
    super('the key of the log changes')
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const { status, text } = await worldOf(store).manage('POST', ROTATE, '')
    model.log.push(`POST ${ROTATE}: ${status} `)
    model.tally.count('key rotation', { status })
    const isRefused = /"(?:CHECKPOINT_NOT_FOUND|CHECKPOINT_KEY_KEPT)"/.test(text)
    if (status !== 200 && !isRefused) throw new Error(`POST ${ROTATE}: ${status} ${text}`)
    await compare(model, store)
  }
}

export const checkpointStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: SECONDS_MAXIMUM }).map((seconds) => new Checkpoints(seconds)),
  },
  { weight: 1, arbitrary: fc.constant(new Rotation()) },
)
