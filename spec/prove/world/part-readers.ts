/** Objects of several parts, by uploads and by appends, and readers of ranges about the borders of their parts. */
import * as fc from 'fast-check'
import { choosePlace, type Place, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Operation } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { readObject } from '../../model/operations/reads.ts'
import { appendObject, putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { Step, WholeUpload } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import type { WireAnswer } from '../../support/wire-client.ts'

/** The smallest part that is not the last. */
const PART_BYTES = 5 * 1024 ** 2
/** Without locks, so that a key is written as often as chance wants. */
const BUCKETS = ['plain', 'versioned'] as const
const SIZES = [1, 11, 500, 2048, 2049] as const
const PARTS_MAXIMUM = 4
const RANGES = 6

class PartReaders extends Step {
  readonly #place: PlaceChoice
  readonly #isUpload: boolean
  readonly #seed: number

  constructor(place: PlaceChoice, isUpload: boolean, seed: number) {
    super(`an object of several ${isUpload ? 'parts' : 'appends'}, and its readers`)
    this.#place = place
    this.#isUpload = isUpload
    this.#seed = seed
  }

  override check({ worlds, world }: Model): boolean {
    return worlds.length === 1 && BUCKETS.every((bucket) => world.buckets.has(bucket))
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    const place = { ...choosePlace(model, this.#place, 'nothing'), bucket: random.of(BUCKETS) }
    const sizes = Array.from({ length: 2 + random.below(PARTS_MAXIMUM - 1) }, () => random.of(SIZES))
    const borders = this.#isUpload
      ? await upload(model, store, place, [PART_BYTES, ...sizes.slice(0, 1)])
      : await append(model, store, place, sizes)
    for (const range of rangesAbout(borders, random)) {
      await carryOut(model, store, readObject({ method: 'GET', ...place, range }))
    }
    await compare(model, store)
  }
}

/** @returns where its parts begin, and its end */
async function upload(model: Model, store: ModelStore, place: Place, sizes: readonly number[]): Promise<number[]> {
  const parts = sizes.map((size, index) => contentOf(index, size))
  const free = { free: place, isFree: true, nth: 0 }
  await new WholeUpload(free, parts).run(model, store)
  return bordersOf(sizes)
}

async function append(model: Model, store: ModelStore, place: Place, sizes: readonly number[]): Promise<number[]> {
  const request = { ...place, headers: [], lock: {}, condition: UNCONDITIONAL }
  for (const [index, size] of sizes.entries()) {
    const content = contentOf(index, size)
    const offset = bordersOf(sizes)[index] ?? 0
    await carryOut(
      model,
      store,
      index === 0 ? putObject({ ...request, content }) : appendObject({ ...request, content, offset }),
    )
  }
  return bordersOf(sizes)
}

function bordersOf(sizes: readonly number[]): number[] {
  return sizes.reduce<number[]>((borders, size) => [...borders, (borders.at(-1) ?? 0) + size], [0])
}

function rangesAbout(borders: readonly number[], random: Random): string[] {
  return Array.from({ length: RANGES }, () => {
    const at = random.of(borders)
    const from = Math.max(0, at + random.of([-2, -1, 0, 1, 3]))
    return random.of([`bytes=${from}-${from + random.below(9)}`, `bytes=${from}-${from}`, `bytes=${from}-`])
  })
}

function carryOut(model: Model, store: ModelStore, operation: Operation): Promise<WireAnswer> {
  return model.carryOut(store, operation, 'part reader')
}

export const partReadersStep: fc.Arbitrary<Step> = fc
  .record({ at: placeChoice, isUpload: fc.nat(3).map((number) => number === 0), seed: fc.nat(2 ** 31 - 1) })
  .map(({ at, isUpload, seed }) => new PartReaders(at, isUpload, seed))
