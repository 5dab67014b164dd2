/** What administrators do with webhooks beside what every model has, and the time in which events are delivered. */
import * as fc from 'fast-check'
import { API } from '../../../planes/management/routing/define-route.ts'
import { rfc3339 } from '../../../engine/clock.ts'
import { DAY } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { isKnown } from '../../model/operations/listed-names.ts'
import { createWebhook } from '../../model/operations/webhooks.ts'
import { Step } from '../../model/steps.ts'
import { EVENT_TYPES } from '../../../engine/events/values.ts'
import { accepts } from './receivers.ts'
import { worldOf } from './world-store.ts'

/** Seconds of one step of deliveries: enough for the attempts of some, and not for all. */
const SECONDS_MAXIMUM = 30
const NOBODY = 'never-there'
const DAYS_MAXIMUM = 3

/** A webhook of the model, and whether it is one. */
function chosen({ world }: Model, nth: number): string {
  const known = [...world.webhooks.keys()].filter(isKnown)
  return nth === 0 ? NOBODY : (known[nth % known.length] ?? NOBODY)
}

/** A request about a webhook that the model has no part in. */
abstract class WebhookRequest extends Step {
  readonly #nth: number
  readonly #path: string

  constructor(nth: number, path: 'replay' | 'test' | 'secret') {
    super(`a request for the ${path} of a webhook`)
    this.#nth = nth
    this.#path = path
  }

  override check({ worlds }: Model): boolean {
    return worlds.length === 1
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const id = chosen(model, this.#nth)
    const target = `${API}/webhooks/${id}/${this.#path}`
    const { status, text } = await worldOf(store).manage('POST', target, this.body(model))
    model.log.push(`POST ${target}: ${status} `)
    model.tally.count(`webhook ${this.#path}`, { status })
    const expected = model.world.webhooks.has(id) ? this.expected(model, id, text) : [404]
    if (!expected.includes(status)) throw new Error(`POST ${target}: ${status}, not ${expected.join(' or ')}: ${text}`)
    await compare(model, store)
  }

  protected abstract body(model: Model): string

  /** What may be answered for a webhook that is there. @throws when the answer says what cannot be */
  protected abstract expected(model: Model, id: string, text: string): readonly number[]
}

class Rotate extends WebhookRequest {
  constructor(nth: number) {
    super(nth, 'secret')
  }

  protected body(): string {
    return ''
  }

  protected expected(): readonly number[] {
    return [200]
  }
}

class Test extends WebhookRequest {
  constructor(nth: number) {
    super(nth, 'test')
  }

  protected body(): string {
    return ''
  }

  protected expected({ world }: Model, id: string, text: string): readonly number[] {
    const { success } = JSON.parse(text) as { readonly success?: boolean }
    const { target } = world.webhooks.get(id) ?? { target: '' }
    if (success === true && !accepts(target)) throw new Error(`a test of ${target} is called a success: ${text}`)
    return [200]
  }
}

class Replay extends WebhookRequest {
  readonly #days: number
  readonly #hasEnd: boolean

  /** @param days before now that it begins */
  constructor(nth: number, days: number, hasEnd: boolean) {
    super(nth, 'replay')
    this.#days = days
    this.#hasEnd = hasEnd
  }

  protected body({ clock }: Model): string {
    const since = clock - this.#days * DAY
    const until = this.#hasEnd ? { until: rfc3339((since + DAY) * 1000) } : {}
    return JSON.stringify({ since: rfc3339(since * 1000), ...until })
  }

  protected expected({ world }: Model, id: string): readonly number[] {
    // An empty range is refused by the form of the request, a second replay by the state of the first.
    if (this.#days === 0) return [400]
    return world.webhooks.get(id)?.enabled === true ? [202, 409] : [409]
  }
}

/** Time goes by in which deliveries are made. Nothing goes to a webhook that is disabled or deleted. */
class Deliveries extends Step {
  readonly #seconds: number

  constructor(seconds: number) {
    super(`${seconds} seconds of deliveries`)
    this.#seconds = seconds
  }

  override check({ world }: Model): boolean {
    return world.webhooks.size > 0
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    const { arrivals, isOver } = await worldOf(store).deliver(this.#seconds)
    model.tally.add('deliveries', isOver ? 'done' : 'unanswered')
    if (model.worlds.length > 1) return
    const enabled = new Set([...model.world.webhooks.values()].flatMap((one) => (one.enabled ? one.target : [])))
    const stranger = arrivals.find(({ target }) => !enabled.has(target))
    if (stranger !== undefined) throw new Error(`${stranger.target} is of no enabled webhook, and got ${stranger.body}`)
  }
}

/** A webhook of everything, so that most worlds have one. */
class Subscribe extends Step {
  readonly #number: number

  constructor(number: number) {
    super('a webhook of every event')
    this.#number = number
  }

  override check({ worlds }: Model): boolean {
    return worlds.length === 1
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const target = `http://127.0.0.1:1/${this.#number}`
    const operation = createWebhook({ target, eventTypes: EVENT_TYPES, bucket: undefined, enabled: true })
    await model.carryOut(store, operation)
  }
}

const nth = fc.nat(9)

export const webhookStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 2 ** 31, max: 2 ** 32 }).map((number) => new Subscribe(number)) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: SECONDS_MAXIMUM }).map((seconds) => new Deliveries(seconds)) },
  { weight: 1, arbitrary: nth.map((number) => new Rotate(number)) },
  { weight: 1, arbitrary: nth.map((number) => new Test(number)) },
  {
    weight: 2,
    arbitrary: fc
      .record({ nth, days: fc.nat(DAYS_MAXIMUM), hasEnd: fc.boolean() })
      .map((each) => new Replay(each.nth, each.days, each.hasEnd)),
  },
)
