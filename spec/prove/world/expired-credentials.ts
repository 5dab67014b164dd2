/** Temporary credentials at the end of their time, and a clock that goes on and comes back. */
import * as fc from 'fast-check'
import { HOUR } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { ModelRequest } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import { accessOf, type KnownCredential } from './access-ledger.ts'
import { firstOnes, issueTemporary } from './accounts.ts'
import { worldOf, type WorldStore } from './world-store.ts'

/** From the issue on, in milliseconds: before its end, after it, and before it once more. */
const MOMENTS = [0, 899_000, 901_000, HOUR, 0, 899_000] as const
const REQUEST: ModelRequest = { method: 'GET', target: '/plain?location' }

/** What has expired by the time of the journal stays so, whatever the clock of the host says afterwards. */
class ExpiredCredential extends Step {
  readonly #seed: number

  constructor(seed: number) {
    super('a temporary credential comes to its end, and the clock goes back')
    this.#seed = seed
  }

  override check({ worlds, moment, clock }: Model): boolean {
    return worlds.length === 1 && moment.now === clock
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    const world = worldOf(store)
    model.log.push(String(this))
    await firstOnes(world, model, accessOf(world.host), random)
    const credential = await issueTemporary(world, model)
    const { clock } = model
    for (const after of MOMENTS) {
      const moment = clock + after
      if (moment !== model.clock) {
        model.log.push(`clock set to ${new Date(moment).toISOString()}`)
        await store.setClock(moment)
        model.setClock(moment)
      }
      await requireVerdict(model, world, credential)
    }
    await compare(model, store)
  }
}

async function requireVerdict(model: Model, world: WorldStore, credential: KnownCredential): Promise<void> {
  const verdict = accessOf(world.host).verdict(credential, REQUEST, model.moment.now)
  const { status, code } = await world.sendAs(credential, REQUEST)
  const found = status === 200 || code === 'NoSuchBucket' ? 'allowed' : code
  model.log.push(`GET ?location of a temporary credential: ${status} ${code ?? ''}`)
  model.tally.add('temporary credential', verdict === 'allowed' ? 'done' : 'refused')
  if (found !== verdict) throw new Error(`a temporary credential is answered ${found}, not ${verdict}`)
}

export const expiredCredentialStep: fc.Arbitrary<Step> = fc.nat(2 ** 31 - 1).map((seed) => new ExpiredCredential(seed))
