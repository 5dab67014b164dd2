/** The disk is full for a while: what needs room is refused by name and changes nothing, the rest goes on, and room heals it. */
import * as fc from 'fast-check'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { ModelRequest } from '../../model/expectation.ts'
import { listingRequest } from '../../model/listing-recipes.ts'
import { isManagement } from '../../model/model-client.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { multipartRequest } from '../../model/multipart-recipes.ts'
import { bucketRequest, keyRequest, type Recipe } from '../../model/recipes.ts'
import { Step } from '../../model/steps.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { requireReadiness } from './readiness.ts'
import { type WorldStore, worldOf } from './world-store.ts'

const MEBIBYTE = 1024 ** 2
/** What is free at each level; the store has a reserve of 24 MiB (`world-process.ts`), and its journal wants 8. */
const LEVELS = { 'below the reserve': 16 * MEBIBYTE, 'without room for changes': 2 * MEBIBYTE } as const
export type Level = keyof typeof LEVELS

/** What `/ready` says at each level. */
const DEGRADED: Readonly<Record<Level, readonly string[]>> = {
  'below the reserve': ['uploads'],
  'without room for changes': ['changes', 'records', 'uploads'],
}
const SPACE = ['uploads', 'records', 'changes']

/** The store looks at the free space ten times a second, and each second asks what the journal has room for. */
const NOTICED_MILLISECONDS = 1500

export class Filling extends Step {
  readonly #level: Level
  readonly #requests: readonly (readonly [Recipe, PlaceChoice])[]

  constructor(level: Level, requests: readonly (readonly [Recipe, PlaceChoice])[]) {
    super(`the disk is full, ${level}`)
    this.#level = level
    this.#requests = requests
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    await world.rest()
    model.log.push(String(this))
    // Records of reads are only counted meanwhile (decision 0013).
    if (this.#level === 'without room for changes') world.host.missesRecords = true
    await leave(world, LEVELS[this.#level])
    await requireReadiness(world, SPACE, DEGRADED[this.#level])
    for (const [recipe, place] of this.#requests) {
      const operation = recipe.build(model, choosePlace(model, place, recipe.wants))
      if (operation === undefined) continue
      const answer = await this.#send(model, world, operation.request)
      model.tally.count(recipe.name, answer)
      model.settle([{ operation, answer }])
    }
    await leave(world, undefined)
    await requireReadiness(world, SPACE, [])
    model.log.push('the disk has room again')
    await compare(model, store)
  }

  /** What is refused for want of room is sent again when there is room, and the model judges the second answer. */
  async #send(model: Model, world: WorldStore, request: ModelRequest): Promise<WireAnswer> {
    const answer = await world.send(request)
    const problem = this.#problem(request, answer)
    if (problem !== undefined) throw new Error(`${request.method} ${request.target}: ${problem}: ${answer.text}`)
    if (!isRefused(answer)) return answer
    model.tally.add(`full disk, ${this.#level}`, 'done')
    await leave(world, undefined)
    const again = await world.send(request)
    await leave(world, LEVELS[this.#level])
    return again
  }

  #problem(request: ModelRequest, answer: WireAnswer): string | undefined {
    const { method, body } = request
    const { status } = answer
    const reads = method === 'GET' || method === 'HEAD'
    if (isRefused(answer)) {
      if (reads) return 'a read is refused on a full disk'
      if (this.#level === 'below the reserve' && method === 'DELETE') return 'a deletion is refused on a full disk'
      return undefined
    }
    if (status >= 300 || reads) return undefined
    if (this.#level === 'without room for changes') return 'something is changed without room for its record'
    const stores = method === 'PUT' && !isManagement(request) && typeof body === 'object' && body.bytes.length > 0
    return stores ? 'bytes are stored below the reserve' : undefined
  }
}

/** Why no lock can be judged, which comes before room is asked for. */
const CLOCK_BEHIND = 'The clock is behind'

/** Other 503s have a reason of their own, and are the same when there is room. */
function isRefused({ status, code, text }: WireAnswer): boolean {
  if (status === 507) return true
  if (status !== 503 || text.includes(CLOCK_BEHIND)) return false
  return code === 'ServiceUnavailable' || text.includes('AUDIT_UNAVAILABLE')
}

/** @param availableBytes undefined for the usual space */
async function leave({ host }: WorldStore, availableBytes: number | undefined): Promise<void> {
  host.disk.availableBytes = availableBytes
  await new Promise((resolve) => setTimeout(resolve, NOTICED_MILLISECONDS))
}

export const requestOnFull = fc.oneof(
  { weight: 6, arbitrary: keyRequest },
  { weight: 2, arbitrary: multipartRequest },
  { weight: 1, arbitrary: bucketRequest },
  { weight: 1, arbitrary: listingRequest },
)

export const fullDiskStep: fc.Arbitrary<Step> = fc
  .record({
    level: fc.constantFrom<Level>('below the reserve', 'below the reserve', 'without room for changes'),
    requests: fc.array(fc.tuple(requestOnFull, placeChoice), { minLength: 3, maxLength: 8 }),
  })
  .map(({ level, requests }) => new Filling(level, requests))
