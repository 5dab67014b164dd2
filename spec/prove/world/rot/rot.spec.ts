/** Every kind of file that rots in every way is named; a store that hides it, or names more, is found out. */
import { test } from 'tap'
import { compare } from '../../../model/comparison.ts'
import { contentOf } from '../../../model/content.ts'
import type { Model, ModelStore } from '../../../model/model.ts'
import { putObject } from '../../../model/operations/writes.ts'
import { Restart, Work } from '../../../model/server-steps.ts'
import { Step } from '../../../model/steps.ts'
import { Random } from '../../../support/random.ts'
import { everyNth } from '../../../support/share-of-cases.ts'
import { runWorld } from '../world.ts'
import { worldOf } from '../world-store.ts'
import { Decay } from './decay.ts'
import { look, MOMENTS, Rotting } from './rot-step.ts'
import { rottenObjects } from './rotten-objects.ts'
import { rottenPlace, SHAPES } from './rotten-place.ts'

const KINDS = [
  'open segment',
  'volume',
  'payload file',
  'HEAD',
  'key file',
  'kept verdict',
  'sealed segment',
  'cold segment',
] as const

/** So many are tried for one that has an object. */
const PLACES = 50

const NO_LOCK = { mode: undefined, until: undefined, hold: undefined }
/** Objects in volumes and in files of their own, and more than a segment of the journal. */
const WRITES = 130

class Writes extends Step {
  constructor() {
    super('many writes')
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    for (let count = 0; count < WRITES; count += 1) {
      const isLarge = count % 20 === 0
      const key = isLarge ? `large${count}` : `k${count % 12}`
      const content = contentOf(count, isLarge ? 5000 : 100 + count)
      const operation = putObject({
        bucket: 'plain',
        key,
        content,
        headers: [],
        lock: NO_LOCK,
        condition: { kind: 'none' },
      })
      await model.carryOut(store, operation)
    }
    await worldOf(store).manage('GET', '/api/v1/audit/chain?from=0&limit=10000', '')
  }
}

/** Looks at a rotten disk, and hides something from the store or from the look. */
class Hiding extends Step {
  readonly #what: 'the damage' | 'what is damaged'

  constructor(what: 'the damage' | 'what is damaged') {
    super(what)
    this.#what = what
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const { disk, paths } = world.host
    // Some bytes are no longer stored for an object.
    const place = Array.from({ length: PLACES }, (_, seed) =>
      rottenPlace(disk, paths, 'one bit', new Random(seed), 'volume'),
    ).find((one) => one !== undefined && rottenObjects(world.server, one).versions.size > 0)
    if (place === undefined) throw new Error('nothing is there to rot')
    const decay = new Decay(disk, paths, place)
    if (this.#what === 'the damage') decay.heal()
    const told = { ...place, mask: Buffer.alloc(place.mask.length) }
    await look(model, world, this.#what === 'the damage' ? decay : Object.assign(decay, { place: told }))
    await compare(model, store)
  }
}

/** A worker looks for sealed segments when it starts. */
const before = [new Writes(), new Restart('clean', false), new Work(70)]

test('each kind of file rots in each way at each moment: the damage is named, and nothing is lost by it', async (t) => {
  const cases = KINDS.flatMap((kind) =>
    SHAPES.flatMap((shape) => MOMENTS.map((moment, index) => ({ kind, shape, moment, seed: index }))),
  )
  const tried = everyNth(cases, 11, ({ kind, shape, moment }) => [`${kind}, ${shape}`, moment])
  const steps = tried.map(({ kind, shape, moment, seed }) => new Rotting(seed, shape, moment, kind))
  const { finding, tally } = await runWorld({ seed: 1, steps: 0 }, { steps: [...before, ...steps] })
  t.equal(finding, undefined)
  for (const kind of KINDS) t.ok(tally.counts.get(`rot of ${kind}`)?.done ?? 0, `${kind} rots`)
})

test('a store that reads damaged bytes as if they were sound is found out', async (t) => {
  const { finding } = await runWorld({ seed: 1, steps: 0 }, { steps: [...before, new Hiding('the damage')] })
  t.match(finding, /damaged, and read without an error: plain/)
})

test('a store that calls sound objects damaged is found out', async (t) => {
  const { finding } = await runWorld({ seed: 1, steps: 0 }, { steps: [...before, new Hiding('what is damaged')] })
  t.match(finding, /is called damaged, and is sound: 409/)
})
