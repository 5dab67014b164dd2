/** Bits of a file turn while the server runs or is stopped; then the disk heals, and nothing may be lost. */
import * as fc from 'fast-check'
import { relative } from 'node:path'
import { AcknowledgedDataLostError } from '../../../../engine/journal/journal-errors.ts'
import { compare, compareLarge } from '../../../model/comparison.ts'
import type { Model, ModelStore } from '../../../model/model.ts'
import { Step } from '../../../model/steps.ts'
import { Random } from '../../../support/random.ts'
import { unexpectedGap } from '../receivers.ts'
import { type WorldStore, worldOf } from '../world-store.ts'
import { Decay } from './decay.ts'
import { LookingStore } from './looking-store.ts'
import { namesDamage, requireScrub, requireVerdicts } from './rot-findings.ts'
import { rottenObjects } from './rotten-objects.ts'
import { rottenPlace, SHAPES, type Shape } from './rotten-place.ts'

/** When it happens: `rebuilt` is a stop in order after which the projections are gone. */
export const MOMENTS = ['running', 'stopped', 'killed', 'rebuilt'] as const
type Moment = (typeof MOMENTS)[number]

/** Files without which a store does not start, whatever is wrong with them. */
const REFUSED_FOR: ReadonlySet<string> = new Set([
  'open segment',
  'sealed segment',
  'cold segment',
  'unrecorded',
  'restore note',
])
/** Each job has some of these steps while the disk is rotten. */
const JOB_STEPS = 20

export class Rotting extends Step {
  readonly #seed: number
  readonly #kind: string | undefined
  readonly #shape: Shape
  readonly #moment: Moment

  /** @param kind of file, as in `rotten-place.ts`; without it chance chooses */
  constructor(seed: number, shape: Shape, moment: Moment, kind?: string) {
    super(`${shape} of a file rots, ${moment}`)
    this.#seed = seed
    this.#shape = shape
    this.#kind = kind
    this.#moment = moment
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const decay = await this.#rot(model, world)
    if (decay === undefined) return
    model.log.push(`${this.#shape} of ${relative(world.host.paths.root, decay.place.path)} is back`)
    decay.heal()
    if (decay.isRefused) await world.up()
    await compare(model, store)
  }

  /** @returns undefined where there was nothing to rot */
  async #rot(model: Model, world: WorldStore): Promise<Decay | undefined> {
    const begin = () => {
      const { disk, paths } = world.host
      const place = rottenPlace(disk, paths, this.#shape, new Random(this.#seed), this.#kind)
      if (place === undefined) return undefined
      const { kind, path, position } = place
      model.log.push(`${this.#shape} of the ${kind} ${relative(paths.root, path)} rots at ${position}, ${this.#moment}`)
      model.tally.add(`rot of ${kind}`, 'done')
      return new Decay(disk, paths, place)
    }
    if (this.#moment === 'running') {
      await world.rest()
      const decay = begin()
      if (decay !== undefined) await look(model, world, decay)
      return decay
    }
    model.restarts += 1
    await world.down(this.#moment === 'killed' ? 'crash' : 'clean', this.#moment === 'rebuilt')
    const decay = begin()
    const refusal = await world.up().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (decay === undefined) {
      if (refusal !== undefined) throw refusal
      return undefined
    }
    decay.isRefused = refusal !== undefined
    this.#judge(decay, refusal)
    if (!decay.isRefused) await look(model, world, decay)
    return decay
  }

  #judge({ place: { kind } }: Decay, refusal: unknown): void {
    if (refusal === undefined && kind === 'open segment') throw new Error(`the store starts from a damaged ${kind}`)
    if (refusal === undefined || (REFUSED_FOR.has(kind) && (namesDamage(refusal) || isLoss(refusal)))) return
    throw new Error(`the store does not start from a damaged ${kind}: ${String(refusal)}`, { cause: refusal })
  }
}

/** Damage at the end of the journal: the projections, or the mark, know of more. */
function isLoss(refusal: unknown): boolean {
  return refusal instanceof AcknowledgedDataLostError
}

/** Passes of a scrub are told apart by the time at which they began, and the clock of a world stands still. */
async function laterBy(model: Model, world: WorldStore, milliseconds: number): Promise<void> {
  const clock = world.now + milliseconds
  await world.setClock(clock)
  model.setClock(clock)
}

/** @throws Error when damage is not named, or sound things are called damaged */
export async function look(model: Model, world: WorldStore, decay: Decay): Promise<void> {
  const objects = rottenObjects(world.server, decay.place)
  const { receivers } = world.host
  world.host.scrubbed = () => undefined
  receivers.unread = (gap) => void receivers.gaps.push(gap)
  await world.jobs.workDespite(JOB_STEPS, namesDamage)
  const looking = new LookingStore(world, decay, objects)
  await compare(model, looking)
  await compareLarge(model, looking)
  const unnamed = [...objects.versions].filter((version) => !looking.named.has(version))
  if (unnamed.length > 0) throw new Error(`damaged, and read without an error: ${unnamed}`)
  await requireScrub(world, decay, objects, () => laterBy(model, world, 1))
  await requireVerdicts(world, decay)
  await world.rest(namesDamage)
  receivers.unread = unexpectedGap
}

export const rotStep: fc.Arbitrary<Step> = fc
  .tuple(fc.nat(2 ** 31 - 1), fc.constantFrom(...SHAPES), fc.constantFrom('running' as const, ...MOMENTS))
  .map(([seed, shape, moment]) => new Rotting(seed, shape, moment))
