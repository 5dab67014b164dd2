/** The commands about the server itself: it is started again, works in the background, has its clock set. */
import * as fc from 'fast-check'
import { DAY, HOUR } from './choices.ts'
import { compare } from './comparison.ts'
import { allVersions, CLOCK_TOLERANCE, type Model, type ModelStore } from './model.ts'
import { Step } from './steps.ts'

export class Restart extends Step {
  readonly #how: 'clean' | 'crash'
  readonly #rebuilds: boolean

  constructor(how: 'clean' | 'crash', rebuilds: boolean) {
    super(`restart after a ${how} stop${rebuilds ? ', projections deleted' : ''}`)
    this.#how = how
    this.#rebuilds = rebuilds
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    await store.restart(this.#how, this.#rebuilds)
    model.restarts += 1
    await compare(model, store)
  }
}

export class Work extends Step {
  readonly #steps: number

  constructor(steps: number) {
    super(`${steps} steps of background jobs`)
    this.#steps = steps
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    await store.work(this.#steps)
  }
}

/** Sets the clock: by an offset, back to the journal's time, or to the end of some retention. */
type ClockChoice = { readonly by: number } | 'corrected' | { readonly retention: number; readonly offset: number }

export class ClockStep extends Step {
  readonly #choice: ClockChoice

  constructor(choice: ClockChoice) {
    super(`clock ${JSON.stringify(choice)}`)
    this.#choice = choice
  }

  override check(model: Model): boolean {
    return this.#clockOf(model) !== undefined
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const clock = this.#clockOf(model)
    if (clock === undefined) return
    model.log.push(`clock set to ${new Date(clock).toISOString()}`)
    await store.setClock(clock)
    model.setClock(clock)
  }

  #clockOf(model: Model): number | undefined {
    const choice = this.#choice
    if (choice === 'corrected') return model.moment.now
    if ('by' in choice) return model.clock + choice.by
    const ends = allVersions(model.world).flatMap(({ version }) => version.lock?.retention?.untilMilliseconds ?? [])
    // Far ones are left alone: times after the year 2255 cannot be counted in microseconds.
    const near = ends.filter((end) => end < model.moment.now + 1000 * DAY)
    const end = near[choice.retention % near.length]
    return end === undefined ? undefined : end + choice.offset
  }
}

export const clockChoice: fc.Arbitrary<ClockChoice> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ by: fc.constantFrom(1, 1000, HOUR, DAY) }) },
  { weight: 2, arbitrary: fc.record({ retention: fc.nat(9), offset: fc.constantFrom(-1, 0, 1) }) },
  { weight: 2, arbitrary: fc.record({ by: fc.constantFrom(-1, -CLOCK_TOLERANCE, -CLOCK_TOLERANCE - 1, -DAY) }) },
  { weight: 2, arbitrary: fc.constant('corrected' as const) },
)
