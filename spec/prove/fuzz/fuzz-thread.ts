/** The thread that fuzzes: one target after the other, each for its share of the time. */
import { parentPort, workerData } from 'node:worker_threads'
import { Random } from '../../support/random.ts'
import { type Breakage, smallest, trialOf } from './breakage.ts'
import type { FuzzOptions } from './fuzz.ts'
import { Heartbeat } from './heartbeat.ts'
import { InputSource } from './input-source.ts'
import type { FuzzTarget } from './target.ts'

/** What the thread is asked to do. */
export interface FuzzOrder extends Omit<FuzzOptions, 'targets' | 'corpus' | 'corpusDirectory' | 'say'> {
  /** Where in the table it begins; after a hang another thread goes on behind the target that it is in. */
  readonly from: number
  /** Inputs of earlier runs, by the name of their target. */
  readonly corpus: ReadonlyMap<string, readonly Uint8Array[]>
  readonly memory: SharedArrayBuffer
}

export type FuzzReport =
  | {
      readonly kind: 'broken'
      readonly target: string
      readonly breakage: Breakage
      readonly input: Uint8Array
    }
  | { readonly kind: 'tried'; readonly target: string; readonly counts: TargetCounts }

export interface TargetCounts {
  readonly inputs: number
  readonly accepted: number
  /** Classes of answers. */
  readonly outcomes: number
}

/** A target that breaks so often is told of and left. */
const BREAKAGES_MAXIMUM = 3
/** Inputs between two looks at the clock. */
const INPUTS_AT_ONCE = 16

const order = workerData as FuzzOrder
const heartbeat = new Heartbeat(order.memory)

function report(told: FuzzReport): void {
  parentPort?.postMessage(told)
}

/** One target, with what it has been given so far. */
class TargetRun {
  readonly #target: FuzzTarget
  readonly #index: number
  readonly #source: InputSource
  #inputs = 0
  #accepted = 0
  #broken = 0

  constructor(target: FuzzTarget, index: number) {
    this.#target = target
    this.#index = index
    const corpus = (order.corpus.get(target.name) ?? []).map((bytes) => Buffer.from(bytes))
    this.#source = new InputSource(target, new Random(order.seed + index * 7919), corpus)
  }

  async run(): Promise<void> {
    for (const seed of this.#source.seeds) await this.#try(seed)
    const end = performance.now() + order.millisecondsPerTarget
    const isDone = (): boolean => performance.now() >= end && this.#inputs >= order.inputsMinimum
    while (!isDone() && this.#broken < BREAKAGES_MAXIMUM) {
      for (let count = 0; count < INPUTS_AT_ONCE; count += 1) await this.#try(this.#source.next())
    }
    const counts = { inputs: this.#inputs, accepted: this.#accepted, outcomes: this.#source.outcomes }
    report({ kind: 'tried', target: this.#target.name, counts })
  }

  async #try(input: Buffer): Promise<void> {
    heartbeat.beat(this.#index, input)
    const trial = await trialOf(this.#target, input)
    this.#inputs += 1
    if ('verdict' in trial) {
      if (trial.verdict.accepted) this.#accepted += 1
      this.#source.learn(input, trial.verdict)
      return
    }
    this.#broken += 1
    if (this.#broken > BREAKAGES_MAXIMUM) return
    const less = await smallest(this.#target, input, trial.breakage)
    const again = await trialOf(this.#target, less)
    const breakage = 'breakage' in again ? again.breakage : trial.breakage
    report({ kind: 'broken', target: this.#target.name, breakage, input: Uint8Array.from(less) })
  }
}

const { TARGETS } = (await import(order.module)) as { readonly TARGETS: readonly FuzzTarget[] }
heartbeat.begin()
for (const [index, target] of TARGETS.entries()) {
  if (index >= order.from) await new TargetRun(target, index).run()
}
