/** Goes through a share of the kinds of work. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type Counts, type Share, serveShare } from '../shares.ts'
import { wrongByStandaloneVerifier } from './aftermath.ts'
import { beginningOf, commonBeginning } from './beginnings.ts'
import { nameOfTarget, type Target, targetsOf } from './faults.ts'
import { chosen, type KindOfWork } from './kinds-of-work.ts'
import { type Beginning, tryWork } from './trial.ts'

/** One of so many trials is verified by the other verifier as well, which has to be started for it. */
const STANDALONE_EVERY = 40
/** Background work may take its operations in another order: a fault that found no operation is tried again. */
const ATTEMPTS = 5

class Trials {
  readonly counts = { kinds: 0, trials: 0, faults: 0, lost: 0, wrong: 0 }
  readonly #root: string
  readonly #say: (line: string) => void

  constructor(root: string, say: (line: string) => void) {
    this.#root = root
    this.#say = say
  }

  /** Fails each operation of a kind of work, in each way. */
  async goThrough(kind: KindOfWork, beginning: Beginning): Promise<void> {
    const operations = await this.#try(kind, beginning, undefined)
    const before = this.counts.faults
    for (const target of targetsOf(operations)) await this.#inject(kind, beginning, target)
    const injected = this.counts.faults - before
    if (injected > 0) this.counts.kinds += 1
    this.#say(`${kind.name}: ${injected} faults at ${operations.length} operations`)
  }

  async #inject(kind: KindOfWork, beginning: Beginning, target: Target): Promise<void> {
    const { faults } = this.counts
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      await this.#try(kind, beginning, target)
      if (this.counts.faults > faults) return
    }
    const name = nameOfTarget(target)
    const recorded = targetsOf(await this.#try(kind, beginning, undefined))
    // The mark of HEAD is written each second: a work that took that long when it was recorded has one more.
    if (!recorded.some((other) => nameOfTarget(other) === name))
      this.#say(`${kind.name}, ${name}: only when it was slow`)
    else this.#found(kind, target, { lost: [], wrong: ['the fault never took place'] })
  }

  /** Returns the operations that there were. */
  async #try(kind: KindOfWork, beginning: Beginning, target: Target | undefined): Promise<readonly string[]> {
    const { injected, operations, lost, wrong } = await tryWork(kind, beginning, this.#root, target)
    const standalone = this.counts.trials % STANDALONE_EVERY === 0
    this.counts.trials += 1
    if (injected > 0) this.counts.faults += 1
    const differing = standalone ? wrongByStandaloneVerifier(new StorePaths(this.#root)) : []
    this.#found(kind, target, { lost, wrong: [...wrong, ...differing] })
    return operations
  }

  #found(
    kind: KindOfWork,
    target: Target | undefined,
    { lost, wrong }: { readonly lost: readonly string[]; readonly wrong: readonly string[] },
  ): void {
    if (lost.length > 0) this.counts.lost += 1
    else if (wrong.length > 0) this.counts.wrong += 1
    const fault = target === undefined ? 'no fault' : nameOfTarget(target)
    for (const one of [...lost, ...wrong].slice(0, 2)) this.#say(`${kind.name}, ${fault}: ${one}`)
  }
}

async function run({ index, of, amount, seed, directory }: Share, say: (line: string) => void): Promise<Counts> {
  const own = join(directory, `share-${index}`)
  const trials = new Trials(join(own, 'trial'), say)
  mkdirSync(own)
  const common = await commonBeginning(own)
  for (const kind of chosen(amount, seed).filter((_, number) => number % of === index)) {
    await trials.goThrough(kind, await beginningOf(kind, common, own))
  }
  return trials.counts
}

await serveShare(run)
