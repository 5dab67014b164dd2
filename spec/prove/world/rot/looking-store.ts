/** A world's store while its disk is rotten: each answer must be right, or name the damage. */
import type { WireAnswer } from '../../../support/wire-client.ts'
import type { ModelRequest } from '../../../model/expectation.ts'
import { isManagement } from '../../../model/model-client.ts'
import type { ModelStore } from '../../../model/model.ts'
import type { WorldStore } from '../world-store.ts'
import type { Decay } from './decay.ts'
import { type RottenObjects, versionAsked } from './rotten-objects.ts'

/** Requests go one after the other: one that was answered with damage is sent again to the sound disk, for the model. */
export class LookingStore implements ModelStore {
  /** Versions that were called damaged. */
  readonly named = new Set<string>()
  readonly #world: WorldStore
  readonly #decay: Decay
  readonly #objects: RottenObjects
  #turn: Promise<unknown> = Promise.resolve()

  constructor(world: WorldStore, decay: Decay, objects: RottenObjects) {
    this.#world = world
    this.#decay = decay
    this.#objects = objects
  }

  send(request: ModelRequest): Promise<WireAnswer> {
    const answer = this.#turn.then(() => this.#send(request))
    this.#turn = answer.catch(() => undefined)
    return answer
  }

  sendDisturbed: ModelStore['sendDisturbed'] = (...given) => this.#world.sendDisturbed(...given)
  setClock: ModelStore['setClock'] = (clock) => this.#world.setClock(clock)
  restart: ModelStore['restart'] = (...given) => this.#world.restart(...given)
  work: ModelStore['work'] = (steps) => this.#world.work(steps)
  pass: ModelStore['pass'] = () => this.#world.pass()

  async #send(request: ModelRequest): Promise<WireAnswer> {
    const asked = versionAsked(this.#world.server, request.method, request.target)
    const answer = await this.#world.send(request)
    if (!isDamage(request, answer)) return answer
    const isTrue = isManagement(request)
      ? this.#decay.isOfJournal
      : asked !== undefined && this.#objects.versions.has(asked)
    if (!isTrue) {
      throw new Error(
        `${request.method} ${request.target} is called damaged, and is sound: ${answer.status} ${answer.text}`,
      )
    }
    if (asked !== undefined) this.named.add(asked)
    return this.#decay.without(() => this.#world.send(request))
  }
}

/** A large object is sent before its end is proved: then the answer is cut off. */
function isDamage(request: ModelRequest, { status, code, complete, text }: WireAnswer): boolean {
  if (isManagement(request)) return status === 200 && text.includes('"damaged":true')
  return request.method === 'GET' && ((status === 409 && code === 'ObjectDamaged') || !complete)
}
