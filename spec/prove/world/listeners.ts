/** Clients that listen to notifications, or follow the stream of events, while others work and until something ends that. */
import * as fc from 'fast-check'
import { API } from '../../../planes/management/routing/define-route.ts'
import { type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { listEvents, pageOf } from '../../model/operations/list-events.ts'
import type { Recipe } from '../../model/recipes.ts'
import { requestsTogether } from '../../model/step-mix.ts'
import { Request, Step } from '../../model/steps.ts'
import { bearer } from '../../support/api-client.ts'
import { SYSTEM_TOKEN } from '../../support/management-server.ts'
import { Random } from '../../support/random.ts'
import type { StorageEvent } from '../../support/storage-events.ts'
import type { LastingAnswer } from './memory-network.ts'
import { expectedNotifications, type Listened, linesIn, notificationsIn } from './naive-notifications.ts'
import type { Strike } from './strikes.ts'
import { tagRequest } from './tag-steps.ts'
import { type WorldStore, worldOf } from './world-store.ts'

/** Longer than a stream waits between two looks at its right and at the journal. */
const LOOK_MILLISECONDS = 1200
const PATIENCE_LOOKS = 8
const STRIKE_OPERATIONS = 30
const GROUPS = ['s3:ObjectCreated:*', 's3:ObjectRemoved:*', 's3:ObjectTagging:*', 's3:LifecycleExpiration:*']
const NAMES = [...GROUPS, 's3:BucketCreated:*', 's3:BucketRemoved:*', 's3:ObjectCreated:Put', 's3:ObjectRemoved:Delete']

const ENDS = ['the client leaves', 'its right is revoked', 'the server stops', 'the host is struck'] as const
type End = (typeof ENDS)[number]

/** How a right is taken from an account: requests of an administrator. */
type Revocation = (account: Listener) => readonly [method: string, path: string, body?: unknown]
const REVOCATIONS: readonly Revocation[] = [
  ({ id }) => ['PUT', `/service-accounts/${id}/status`, { enabled: false }],
  ({ id, credential }) => ['PUT', `/service-accounts/${id}/credentials/${credential}/status`, { enabled: false }],
  ({ id, policy }) => ['DELETE', `/policies/${policy}/bindings/${id}`],
  ({ id }) => ['DELETE', `/service-accounts/${id}`],
]

/** An account that may listen and nothing else. */
interface Listener {
  readonly id: string
  readonly credential: string
  readonly policy: string
  readonly signing: { readonly accessKey: string; readonly secretKey: string }
}

/** An open stream, and the events that it must have sent. */
interface Open {
  readonly name: string
  readonly answer: LastingAnswer
  told(): readonly unknown[]
  expected(events: readonly StorageEvent[]): readonly unknown[]
}

class Listening extends Step {
  readonly #recipes: readonly Recipe[]
  readonly #at: PlaceChoice
  readonly #end: End
  readonly #seed: number

  constructor(recipes: readonly Recipe[], at: PlaceChoice, end: End, seed: number) {
    super(`clients listen to events, until ${end}`)
    this.#recipes = recipes
    this.#at = at
    this.#end = end
    this.#seed = seed
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const random = new Random(this.#seed)
    model.log.push(String(this))
    // What became of earlier requests must be known, since what is told is held against one list.
    await compare(model, store)
    const { events: earlier, head_id: head } = pageOf(await world.send(listEvents().request))
    const before = earlier.length
    const account = await listenerOf(world)
    const streams = [listen(world, model, random, account.signing), follow(world, head)]
    for (const stream of streams) await opened(stream)
    for (const recipe of this.#recipes) await new Request(recipe, this.#at).run(model, store)
    const events = (await eventsOf(world)).slice(before)
    for (const stream of streams) await requireTold(stream, events)
    model.tally.add(`stream until ${this.#end}`, 'done')
    await this.#endStreams(model, world, streams, account, random, { before, head })
    for (const { answer } of streams) answer.leave()
    await removeListener(world, account)
    await compare(model, store)
  }

  async #endStreams(
    model: Model,
    world: WorldStore,
    streams: readonly Open[],
    account: Listener,
    random: Random,
    { before, head }: { readonly before: number; readonly head: string },
  ): Promise<void> {
    const [notified, followed] = streams as [Open, Open]
    switch (this.#end) {
      case 'the client leaves':
        return
      case 'its right is revoked': {
        const [method, path, body] = random.of(REVOCATIONS)(account)
        await administer(world, method, path, body)
        const told = notified.told()
        for (const recipe of this.#recipes) await new Request(recipe, this.#at).run(model, world)
        await pause(2 * LOOK_MILLISECONDS)
        requireSame(notified.name, notified.told(), told)
        if (!notified.answer.isOver) throw new Error(`${notified.name} goes on after ${method} ${path}`)
        return requireTold(followed, (await eventsOf(world)).slice(before))
      }
      case 'the server stops':
        await world.stopAmid()
        for (const { name, answer } of streams) if (!answer.isOver) throw new Error(`${name} goes on after the stop`)
        model.restarts += 1
        return world.up()
      case 'the host is struck': {
        const strike: Strike = { kind: random.of(['power', 'kill']), operations: 1 + random.below(STRIKE_OPERATIONS) }
        await struck(model, world, this.#recipes, this.#at, strike)
        const events = (await eventsOf(world)).slice(before)
        // Nothing was told that was lost afterwards.
        for (const { name, told, expected } of streams) {
          requireSame(name, told(), expected(events).slice(0, told().length))
        }
        const known = followed.told()
        const again = follow(world, String(known.at(-1) ?? head))
        await requireTold(again, events.slice(known.length))
        again.answer.leave()
      }
    }
  }
}

/** Requests at once, which the strike may leave without an answer. */
async function struck(
  model: Model,
  world: WorldStore,
  recipes: readonly Recipe[],
  at: PlaceChoice,
  strike: Strike,
): Promise<void> {
  const operations = recipes.flatMap((recipe) => recipe.build(model, at.free) ?? [])
  const answers = await world.strike(
    operations.map(({ request }) => request),
    strike,
    0,
  )
  // What became of a request that is answered with a fault of the server is for the model to find.
  const exchanges = operations.map((operation, index) => {
    const answer = answers[index]
    return { operation, answer: answer !== undefined && answer.status >= 500 ? undefined : answer }
  })
  if (exchanges.length > 0) model.settle(exchanges)
  model.restarts += 1
  await compare(model, world)
}

async function eventsOf(world: WorldStore): Promise<readonly StorageEvent[]> {
  return pageOf(await world.send(listEvents().request)).events
}

async function administer(world: WorldStore, method: string, path: string, body?: unknown): Promise<string> {
  const raw = body === undefined ? '' : JSON.stringify(body)
  const { status, text } = await world.manage(method, `${API}${path}`, raw)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  return text
}

async function listenerOf(world: WorldStore): Promise<Listener> {
  const made = JSON.parse(
    await administer(world, 'POST', '/service-accounts', { name: `listener ${world.turns}` }),
  ) as {
    account: { id: string }
    credential: { credential_id: string; access_key: string; secret_key: string }
  }
  const actions = ['s3:ListenNotification', 's3:ListenBucketNotification']
  const statements = [{ effect: 'allow', actions, resources: ['bucket:*'] }]
  const policy = (
    JSON.parse(await administer(world, 'POST', '/policies', { name: `listening ${world.turns}`, statements })) as {
      id: string
    }
  ).id
  const { id } = made.account
  await administer(world, 'PUT', `/policies/${policy}/bindings/${id}`)
  const { credential_id: credential, access_key: accessKey, secret_key: secretKey } = made.credential
  return { id, credential, policy, signing: { accessKey, secretKey } }
}

async function removeListener(world: WorldStore, { id, policy }: Listener): Promise<void> {
  await world.manage('DELETE', `${API}/service-accounts/${id}`, '')
  await administer(world, 'DELETE', `/policies/${policy}`)
}

/** Notifications of S3, of one bucket or all, and of some names. */
function listen({ server, host, now }: WorldStore, model: Model, random: Random, signing: Listener['signing']): Open {
  const bucket = random.of([undefined, undefined, ...model.world.buckets.keys()])
  const names = random.below(2) === 0 ? GROUPS : [random.of(NAMES), random.of(NAMES)]
  const listened: Listened = { bucket, names, prefix: random.of(['', '', 'a']), suffix: random.of(['', '', 'b']) }
  const query = new URLSearchParams(names.map((name) => ['events', name]))
  if (listened.prefix !== '') query.set('prefix', listened.prefix)
  if (listened.suffix !== '') query.set('suffix', listened.suffix)
  const target = `/${bucket ?? ''}?${query}`
  const headers = server.wire.headersOf('GET', target, { sign: { ...signing, now } })
  const answer = host.network.hold(server.port, { method: 'GET', target, headers })
  return {
    name: `GET ${target}`,
    answer,
    told: () => notificationsIn(answer.text),
    expected: (events) => expectedNotifications(events, listened),
  }
}

/** The stream of the management plane. @param after where it goes on: id of an event, or of the head of all */
function follow({ server, host }: WorldStore, after: string): Open {
  const target = `${API}/events/stream?after_id=${after}`
  const { port, host: name } = new URL(server.apiEndpoint)
  const headers = [['host', name] as const, ['authorization', bearer(SYSTEM_TOKEN)] as const]
  const answer = host.network.hold(Number(port), { method: 'GET', target, headers })
  return {
    name: `GET ${target}`,
    answer,
    told: () => linesIn(answer.text).map((line) => (JSON.parse(line) as StorageEvent).id),
    expected: (events) => events.map(({ id }) => id),
  }
}

/** Both kinds of streams say something when they have caught up. */
async function opened({ name, answer }: Open): Promise<void> {
  for (let look = 0; answer.text === '' && look < PATIENCE_LOOKS; look += 1) await pause(LOOK_MILLISECONDS / 4)
  if (answer.status !== 200 || answer.text === '')
    throw new Error(`${name} is answered ${answer.status} ${answer.text}`)
}

/** Each event that it wants is in the stream, once and in order. */
async function requireTold({ name, told, expected }: Open, events: readonly StorageEvent[]): Promise<void> {
  const wanted = expected(events)
  for (let look = 0; told().length < wanted.length && look < PATIENCE_LOOKS; look += 1)
    await pause(LOOK_MILLISECONDS / 4)
  requireSame(name, told(), wanted)
}

function requireSame(name: string, told: readonly unknown[], expected: readonly unknown[]): void {
  const [found, wanted] = [told, expected].map((all) => JSON.stringify(all))
  if (found !== wanted) throw new Error(`${name} told ${found} instead of ${wanted}`)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

export const listenerStep: fc.Arbitrary<Step> = fc
  .record({
    recipes: fc.tuple(requestsTogether, fc.array(tagRequest, { minLength: 1, maxLength: 2 })),
    at: placeChoice,
    end: fc.constantFrom(...ENDS),
    seed: fc.nat(2 ** 31 - 1),
  })
  .map(({ recipes, at, end, seed }) => new Listening(recipes.flat(), at, end, seed))
