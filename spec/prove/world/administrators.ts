/** Administrators and auditors: routes of the management plane that no model has, with parameters and bodies by chance. */
import * as fc from 'fast-check'
import { operationName } from '../../../planes/management/openapi/operation-names.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import type { Place } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { allVersions } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import { jsonBySchema } from '../fuzz/json-by-schema.ts'
import { worldOf } from './world-store.ts'

export type Route = (typeof routeList)[number]

/** Changes that the model of a store has no part in. */
const CHANGING: ReadonlySet<string> = new Set([
  'issueManagementToken',
  'revokeManagementToken',
  'createServiceAccount',
  'deleteServiceAccount',
  'setServiceAccountStatus',
  'issueCredential',
  'issueTemporaryCredential',
  'setCredentialStatus',
  'createPolicy',
  'replacePolicy',
  'deletePolicy',
  'attachPolicy',
  'detachPolicy',
  'createObjectShare',
  'revokeShare',
  'deleteShare',
  'createObjectEmbed',
  'updateEmbed',
  'revokeEmbed',
  'deleteEmbed',
  'verifyObject',
  'verifyBucket',
  'createDownload',
])
/** An endless answer. */
const NOT_HERE: ReadonlySet<string> = new Set(['streamStorageEvents'])
const REQUESTS_MAXIMUM = 6

const routes: readonly Route[] = routeList.filter((route) => {
  const name = operationName(route)
  return CHANGING.has(name) || (route.method === 'GET' && !NOT_HERE.has(name))
})

/** Every route of credentials with a role whose answer ends. */
export const OF_ROLES: readonly Route[] = routeList.filter(
  (route) => typeof route.roles !== 'string' && !NOT_HERE.has(operationName(route)),
)

/** Each is answered in a form that the OpenAPI document has, without a fault of the server, and nothing of the model changes. */
class Administrator extends Step {
  readonly #seed: number

  constructor(seed: number) {
    super('an administrator looks and changes access')
    this.#seed = seed
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    model.log.push(String(this))
    const world = worldOf(store)
    for (let count = 1 + random.below(REQUESTS_MAXIMUM); count > 0; count -= 1) {
      const route = random.of(routes)
      const target = targetOf(route, model, world.learnedIds, random)
      const { status, text } = await world.manage(route.method, target, bodyOf(route, random))
      model.log.push(`${route.method} ${target}: ${status}`)
      if (status >= 500 && status !== 503) throw new Error(`${route.method} ${target}: ${status} ${text}`)
    }
    await compare(model, store)
  }
}

export function targetOf({ path }: Route, model: Model, ids: readonly string[], random: Random): string {
  const places: readonly Place[] = allVersions(model.world)
  const { bucket, key } = random.of(places.length > 0 ? places : [{ bucket: 'plain', key: 'a' }])
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'bucket') return bucket
    if (name === 'key') return key.split('/').map(encodeURIComponent).join('/')
    return encodeURIComponent(ids.length === 0 || random.below(8) === 0 ? 'no-such-id' : random.of(ids))
  })
}

export function bodyOf({ request }: Route, random: Random): string {
  return request === undefined ? '' : JSON.stringify(jsonBySchema(request.schema, random))
}

export const administratorStep: fc.Arbitrary<Step> = fc.nat(2 ** 31 - 1).map((seed) => new Administrator(seed))
