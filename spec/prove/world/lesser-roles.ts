/** People with management tokens of every role: what their role may, and nothing else, as long as the token lasts. */
import * as fc from 'fast-check'
import type { ManagementErrorCode } from '../../../planes/management/errors.ts'
import { HOUR } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { bearer } from '../../support/api-client.ts'
import { Random } from '../../support/random.ts'
import { bodyOf, type Route, targetOf, OF_ROLES } from './administrators.ts'
import { worldOf, type WorldStore } from './world-store.ts'

const ROLES = ['system-administrator', 'storage-administrator', 'auditor'] as const
const REQUESTS_MAXIMUM = 8
const LIFETIME_SECONDS = 600

interface IssuedToken {
  readonly id: string
  readonly role: (typeof ROLES)[number]
  readonly token: string
}

/** How a token comes to its end; after each of them it opens nothing, whatever the clock says then. */
const ENDS = ['none', 'revoked', 'expired', 'expired, and the clock is set back'] as const
type End = (typeof ENDS)[number]

class LesserRoles extends Step {
  readonly #end: End
  readonly #seed: number

  constructor(end: End, seed: number) {
    super(`people with tokens of each role, whose end is ${end}`)
    this.#end = end
    this.#seed = seed
  }

  override check({ worlds, moment, clock }: Model): boolean {
    return worlds.length === 1 && moment.now === clock
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    const world = worldOf(store)
    model.log.push(String(this))
    const issued = await issue(world, random.of(ROLES))
    for (let count = 1 + random.below(REQUESTS_MAXIMUM); count > 0; count -= 1) {
      await ask(model, world, issued, random, undefined)
    }
    if (this.#end !== 'none') {
      await this.#endIt(model, world, issued)
      for (let count = 0; count < 2; count += 1) await ask(model, world, issued, random, 'UNAUTHENTICATED')
    }
    await compare(model, store)
  }

  async #endIt(model: Model, world: WorldStore, { id }: IssuedToken): Promise<void> {
    if (this.#end === 'revoked') {
      const { status } = await world.server.api.call('DELETE', `/management-tokens/${id}`)
      if (status !== 204) throw new Error(`a token is not revoked: ${status}`)
      return
    }
    const { clock } = model
    await setClock(model, world, clock + HOUR)
    if (this.#end !== 'expired') await setClock(model, world, clock)
  }
}

async function issue({ server }: WorldStore, role: IssuedToken['role']): Promise<IssuedToken> {
  const body = { name: 'somebody', role, expires_in_seconds: LIFETIME_SECONDS }
  return server.api.get<IssuedToken>('POST', '/management-tokens', body)
}

/** Any route that the role does not have, or a look that it has. @param refused what everything must be refused with */
async function ask(
  model: Model,
  { server, learnedIds }: WorldStore,
  { role, token }: IssuedToken,
  random: Random,
  refused: ManagementErrorCode | undefined,
): Promise<void> {
  const route = random.of(routesFor(role))
  const target = targetOf(route, model, learnedIds, random)
  const raw = bodyOf(route, random)
  const { status, code } = await server.api.as(bearer(token)).send(route.method, target, { raw })
  const mustBe = refused ?? (route.roles.includes(role) ? undefined : 'FORBIDDEN')
  model.log.push(`${role}: ${route.method} ${target}: ${status} ${code ?? ''}`)
  model.tally.add(`request of ${role}`, mustBe === undefined ? 'done' : 'refused')
  const isRight = mustBe === undefined ? code !== 'FORBIDDEN' && code !== 'UNAUTHENTICATED' : code === mustBe
  if (!isRight) throw new Error(`${route.method} ${target} of ${role}: ${status} ${code} instead of ${mustBe}`)
}

function routesFor(role: IssuedToken['role']): readonly Route[] {
  return OF_ROLES.filter(({ method, roles }) => method === 'GET' || !roles.includes(role))
}

async function setClock(model: Model, store: ModelStore, clock: number): Promise<void> {
  model.log.push(`clock set to ${new Date(clock).toISOString()}`)
  await store.setClock(clock)
  model.setClock(clock)
}

export const lesserRolesStep: fc.Arbitrary<Step> = fc
  .record({ end: fc.constantFrom(...ENDS), seed: fc.nat(2 ** 31 - 1) })
  .map(({ end, seed }) => new LesserRoles(end, seed))
