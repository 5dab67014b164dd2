/** A greedy client with many requests at once, and a modest one who comes after them and must not wait for all of them. */
import * as fc from 'fast-check'
import { compilePolicies } from '../../../engine/access/policy.ts'
import type { Credential } from '../../../planes/s3/signing/identity.ts'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { ModelRequest } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { readObject } from '../../model/operations/reads.ts'
import { Step } from '../../model/steps.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { requireSharesBack, sharesInUse } from './shares-in-use.ts'
import { type WorldStore, worldOf } from './world-store.ts'

/** Operations of a world that have a place at once; the rest wait. */
export const PLACES = 8
const GREEDY_REQUESTS = 40
/** Turns of the loop in which the body of each of them comes: as long it has a place. */
const BODY_TURNS = 20
/** Turns that a modest client waits at most: one body of the greedy client, and as much again. All bodies take twice that. */
const TURNS_MAXIMUM = 2 * BODY_TURNS
/** Larger bodies have a place while they come. */
const BODY = 'x'.repeat(66_000)

/** An account that may do everything. */
function accountNamed(name: string): Credential {
  return {
    accessKey: name.toUpperCase().padEnd(20, 'X'),
    secretKey: `the secret of the ${name} client of a world`,
    principal: `service_account:${name}`,
    credentialId: name,
    policies: compilePolicies([{ effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] }]),
  }
}

export const ACCOUNTS = { greedy: accountNamed('greedy'), modest: accountNamed('modest') } as const
/** Who comes after the greedy client; a client of its own account shares its line. */
export type Comer = keyof typeof ACCOUNTS | 'root'

export const CROWD: readonly Credential[] = Object.values(ACCOUNTS)

export class Crowd extends Step {
  readonly #comer: Comer
  readonly #place: PlaceChoice

  constructor(comer: Comer, place: PlaceChoice) {
    super(`a greedy client sends ${GREEDY_REQUESTS} bodies, and ${comer} reads`)
    this.#comer = comer
    this.#place = place
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const place = choosePlace(model, this.#place, 'a key')
    // The whole of a large object takes turns of its own.
    const operation = readObject({ method: 'GET', ...place, range: 'bytes=0-9' })
    await world.rest()
    const before = sharesInUse()
    model.log.push(String(this))
    const begun = world.turns
    const crowd = Array.from({ length: GREEDY_REQUESTS }, () => sendGreedily(world))
    // The modest one comes when all of the others are there.
    await turns(BODY_TURNS)
    const sent = world.turns
    const answer = await this.#read(world, operation.request)
    const waited = world.turns - sent
    await Promise.all(crowd)
    const all = world.turns - begun
    model.tally.count('modest client', answer)
    model.settle([{ operation, answer }])
    if (waited > TURNS_MAXIMUM) {
      throw new Error(`${this.#comer} waited for ${waited} turns, and all of a crowd took ${all}`)
    }
    await world.rest()
    await requireSharesBack(before, 'a crowd')
    await compare(model, store)
  }

  #read({ server, now }: WorldStore, { target, headers = [] }: ModelRequest): Promise<WireAnswer> {
    const { accessKey, secretKey } = this.#comer === 'root' ? server : ACCOUNTS[this.#comer]
    return server.raw('GET', target, { headers, sign: { accessKey, secretKey, now } })
  }
}

/** A write that is refused in the end, whose body comes slowly. */
async function sendGreedily({ server, host, now }: WorldStore): Promise<void> {
  const { accessKey, secretKey } = ACCOUNTS.greedy
  host.network.next = { pieceBytes: Math.ceil(BODY.length / BODY_TURNS), delayTurns: 0 }
  const { status, text } = await server.raw('PUT', '/plain/a', {
    headers: [['if-match', '"00000000000000000000000000000000"']],
    body: BODY,
    sign: { accessKey, secretKey, now },
  })
  if (status < 400 || status >= 500) throw new Error(`one of a crowd was answered ${status} ${text}`)
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

export const crowdStep: fc.Arbitrary<Step> = fc
  .record({ comer: fc.constantFrom<Comer>('root', 'modest', 'modest'), at: placeChoice })
  .map(({ comer, at }) => new Crowd(comer, at))
