/** Fuzzes every target of a table: starts the thread that does it, watches it, and counts what it tells. */
import { Worker } from 'node:worker_threads'
import type { Breakage, BreakageKind } from './breakage.ts'
import { keepInput } from './corpus.ts'
import type { FuzzOrder, FuzzReport, TargetCounts } from './fuzz-thread.ts'
import { Heartbeat, Watchdog } from './heartbeat.ts'

export interface FuzzOptions {
  /** Address of the module whose `TARGETS` are fuzzed, and their names. */
  readonly module: string
  readonly targets: readonly string[]
  readonly seed: number
  readonly millisecondsPerTarget: number
  /** So many are given to each target, however long it takes. */
  readonly inputsMinimum: number
  readonly corpus: ReadonlyMap<string, readonly Buffer[]>
  /** Where inputs that break something are kept. */
  readonly corpusDirectory: string
  readonly say: (line: string) => void
}

export interface FuzzResult {
  readonly inputs: number
  readonly broken: Readonly<Record<BreakageKind, number>>
  /** What the run did not do, such as a target that accepted nothing: a proof that could not fail. */
  readonly lacking: readonly string[]
}

const LOOK_MILLISECONDS = 100
/** A reader that asks for more memory than this crashes. */
const HEAP_MEBIBYTES_MAXIMUM = 768

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const run = new FuzzRun(options)
  for (let from = 0; from < options.targets.length; ) from = await run.thread(from)
  return run.result()
}

class FuzzRun {
  readonly #options: FuzzOptions
  readonly #counts = new Map<string, TargetCounts>()
  readonly #broken: Record<BreakageKind, number> = { crash: 0, hang: 0, accepted: 0 }
  /** Inputs to targets that a thread did not come back from. */
  #unreported = 0

  constructor(options: FuzzOptions) {
    this.#options = options
  }

  /** Runs a thread until all targets are done or one does not come back. Returns where the next one begins. */
  async thread(from: number): Promise<number> {
    const { module, seed, millisecondsPerTarget, inputsMinimum, corpus, targets } = this.#options
    const heartbeat = new Heartbeat()
    const { memory } = heartbeat
    const order: FuzzOrder = { module, from, seed, millisecondsPerTarget, inputsMinimum, corpus, memory }
    const worker = new Worker(new URL('./fuzz-thread.js', import.meta.url), {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEBIBYTES_MAXIMUM },
    })
    const watchdog = new Watchdog(heartbeat)
    const before = this.#reported
    let ending: Breakage = { kind: 'crash', message: 'the thread ended and said nothing' }
    worker.on('error', (error) => {
      ending = { kind: 'crash', message: String(error) }
    })
    worker.on('message', (told: FuzzReport) => this.#hear(told))
    const timer = setInterval(() => {
      const stuck = watchdog.stuck()
      if (stuck === undefined) return
      ending = { kind: 'hang', message: stuck }
      clearInterval(timer)
      void worker.terminate()
    }, LOOK_MILLISECONDS)
    await new Promise((resolve) => worker.once('exit', resolve))
    clearInterval(timer)
    const next = targets.findIndex((name, index) => index >= from && !this.#counts.has(name))
    if (next === -1) return targets.length
    this.#unreported += heartbeat.beats - (this.#reported - before)
    this.#break(targets[next] as string, ending, heartbeat.input)
    return next + 1
  }

  get #reported(): number {
    return [...this.#counts.values()].reduce((sum, { inputs }) => sum + inputs, 0)
  }

  #hear(told: FuzzReport): void {
    if (told.kind === 'broken') return this.#break(told.target, told.breakage, told.input)
    const { inputs, accepted, outcomes } = told.counts
    this.#counts.set(told.target, told.counts)
    this.#options.say(`${told.target}: ${inputs} inputs, ${accepted} of them valid, ${outcomes} classes of answers`)
  }

  #break(target: string, { kind, message }: Breakage, input: Uint8Array): void {
    this.#broken[kind] += 1
    const path = keepInput(this.#options.corpusDirectory, target, input)
    this.#options.say(`${target}: ${kind}: ${message}`)
    this.#options.say(`  ${input.length} bytes; again: node build/spec/prove/fuzz/replay.js ${path}`)
  }

  result(): FuzzResult {
    const lacking = this.#options.targets.flatMap((name) => {
      const counts = this.#counts.get(name)
      if (counts === undefined) return [`${name} was not tried to its end`]
      if (counts.inputs === 0) return [`${name} was given nothing`]
      if (counts.accepted === 0) return [`${name} accepted nothing, so that nothing could be found`]
      if (counts.accepted === counts.inputs) return [`${name} refused nothing`]
      return []
    })
    return { inputs: this.#reported + this.#unreported, broken: this.#broken, lacking }
  }
}
