/** Sequences, gone through one after the other, and what was found at their moments. */
import { Random } from '../../support/random.ts'
import { type Breakage, UNBROKEN } from '../disk/breakage.ts'
import { beginning, type CrashPoint, crashPoints, type Projecting } from './crash-points.ts'
import { crashWhileOpening, examine } from './examination.ts'
import { MemoryProjections, replaceLmdb } from './memory-projections.ts'
import { outcomesOf } from './outcomes.ts'
import type { World } from './world.ts'

/** After one of so many crashes the power goes again while the store is opened. */
const AGAIN_EVERY = 8

export class Trial {
  readonly counts = { sequences: 0, moments: 0, sampled: 0, crashes: 0, again: 0, lost: 0, wrong: 0 }
  readonly #projecting: Projecting = { projections: new MemoryProjections() }
  readonly #random: Random
  readonly #breakage: Breakage
  readonly #putLmdbBack: () => void

  /** From here on there is no LMDB in this thread. */
  constructor(seed: number, breakage: Breakage = UNBROKEN) {
    this.#random = new Random(seed)
    this.#breakage = breakage
    this.#putLmdbBack = replaceLmdb(() => this.#projecting.projections)
  }

  close(): void {
    this.#putLmdbBack()
  }

  /** Returns what is wrong, in the order in which it was found. */
  async run(sequences: readonly (readonly string[])[]): Promise<string[]> {
    const found: string[] = []
    const begun = await beginning(this.#projecting)
    for (const sequence of sequences) {
      this.counts.sequences += 1
      for (const point of await crashPoints(begun, sequence, this.#projecting, this.#breakage)) {
        const wrong = await this.#tryPoint(point)
        found.push(...wrong.map((one) => `${sequence.join(', ')}; crash before ${point.before}: ${one}`))
      }
    }
    return found
  }

  async #tryPoint(point: CrashPoint): Promise<string[]> {
    const { disks, sampled } = outcomesOf(point.disk, this.#random)
    this.counts.moments += 1
    this.counts.sampled += sampled ? 1 : 0
    const wrong: string[] = []
    for (const disk of disks) {
      const world = { disk, projections: new MemoryProjections(), ledger: point.ledger.copy() }
      const isAgain = this.counts.crashes % AGAIN_EVERY === 0
      if (isAgain) this.counts.again += 1
      const left: World = isAgain ? await crashWhileOpening(world, this.#random, this.#projecting) : world
      wrong.push(...(await this.#examine(left, 'after a power cut')))
    }
    wrong.push(...(await this.#examine({ ...point, ledger: point.ledger.copy() }, 'after a kill')))
    return wrong
  }

  /** Returns the first thing that is wrong: the others most often come of it. */
  async #examine(world: World, how: Parameters<typeof examine>[1]): Promise<string[]> {
    this.counts.crashes += 1
    const { lost, wrong } = await examine(world, how, this.#projecting)
    if (lost.length > 0) this.counts.lost += 1
    else if (wrong.length > 0) this.counts.wrong += 1
    return [...lost, ...wrong].slice(0, 1).map((text) => `${how}: ${text}`)
  }
}
