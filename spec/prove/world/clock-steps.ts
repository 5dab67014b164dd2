/** Clocks that were wrong, and are set right: the order time of the journal goes back by command alone. Hours without a request. */
import * as fc from 'fast-check'
import { API } from '../../../planes/management/routing/define-route.ts'
import { DAY, HOUR } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { allVersions, type Model, type ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { worldOf } from './world-store.ts'

const SET_BACK = `${API}/clock/set-back`

/** An administrator asks for the time of the journal to be set back, mostly after the clock was wrong for a while. */
class SetBack extends Step {
  readonly #ahead: number

  /** @param ahead milliseconds by which the clock was wrong */
  constructor(ahead: number) {
    super(`the clock is ${ahead} ms ahead for a moment, and the journal is set back`)
    this.#ahead = ahead
  }

  override check({ worlds, clock, moment }: Model): boolean {
    // Farther times than these are chosen by retentions alone, and cannot be counted from.
    return worlds.length === 1 && moment.now < clock + 1000 * DAY
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    const { clock } = model
    for (const moment of this.#ahead === 0 ? [] : [clock + this.#ahead, clock]) {
      await store.setClock(moment)
      model.setClock(moment)
    }
    const { now, clockIsBehind } = model.moment
    const { status, text } = await worldOf(store).manage('POST', SET_BACK, JSON.stringify({ reason: 'it was wrong' }))
    model.log.push(`POST ${SET_BACK}: ${status} `)
    model.tally.count('set back', { status })
    const code = status === 200 ? 'OK' : /"code":"(\w+)"/.exec(text)?.[1]
    const expected = clockIsBehind ? expectedBehind(model, now) : ['CLOCK_NOT_BEHIND']
    if (code === undefined || !expected.includes(code)) {
      throw new Error(`POST ${SET_BACK}: ${status} ${text}, not ${expected.join(' or ')}`)
    }
    if (status === 200) model.clockSetBack()
    await compare(model, store)
  }
}

/** Links, tokens and credentials, of which the model has none, hold as retentions do. */
function expectedBehind({ world, clock }: Model, now: number): string[] {
  const ends = allVersions(world).flatMap(({ version }) => version.lock?.retention?.untilMilliseconds ?? [])
  return ends.some((end) => end > clock && end <= now) ? ['CLOCK_HELD'] : ['OK', 'CLOCK_HELD']
}

/** More than an hour without a request: a mark of the clock is put into the journal. */
class QuietHour extends Step {
  constructor() {
    super('an hour without a request')
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const clock = model.clock + HOUR + 1
    model.log.push(String(this))
    await worldOf(store).quietUntil(clock, HOUR)
    model.setClock(clock)
    await compare(model, store)
  }
}

export const clockStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 61_000, HOUR, DAY).map((ahead) => new SetBack(ahead)) },
  { weight: 1, arbitrary: fc.constant(new QuietHour()) },
)
