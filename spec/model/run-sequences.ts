/** Runs random sequences against a store and its model, and says how to run a failed one again. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { Test } from 'tap'
import { environment } from '../../cli/environment.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { compareFully } from './comparison.ts'
import { requireNoLeftovers, type StoreCounts } from './leftovers.ts'
import { Model, type ModelStore, Tally } from './model.ts'
import { createBucket, putVersioning } from './operations/buckets.ts'
import { type StepWeights, stepOf } from './step-mix.ts'

/** Files in memory: what is shown here does not hang on the disk, and syncs would take most of the time. */
const MEMORY = '/dev/shm'

/** Fewer sequences may leave out a kind of request. */
const SEQUENCES_OF_ALL_KINDS = 100

export interface SequenceStore extends ModelStore {
  readonly dataDirectory: string
  /** Given where the spec can see into the store. */
  readonly counts?: StoreCounts
  /** Stops the server in order. */
  end(): Promise<void>
}

export interface SequenceSettings extends StepWeights {
  /** What the settings in the environment begin with. */
  readonly name: string
  readonly sequences: number
  /** Steps of the longest one. */
  readonly length: number
  open(dataDirectory: string): Promise<SequenceStore>
}

/**
 * For a run with the name THREAD the environment may say:
 * `MODEL_THREAD_SEQUENCES=5000` how many, `MODEL_THREAD_LENGTH=200` how long, `MODEL_THREAD_SEED=1` which ones;
 * `MODEL_THREAD_PATH=...` and `MODEL_THREAD_REPLAY=...` the one that failed, as the failure prints them.
 */
export async function runSequences(t: Test, settings: SequenceSettings): Promise<void> {
  const variable = (what: string) => environment[`MODEL_${settings.name}_${what}`]
  const seed = Number(variable('SEED') ?? Date.now() % 2 ** 31)
  const path = variable('PATH')
  const numRuns = Number(variable('SEQUENCES') ?? settings.sequences)
  const maxCommands = Number(variable('LENGTH') ?? settings.length)
  const replayPath = variable('REPLAY') ?? null
  t.comment(`MODEL_${settings.name}_SEED=${seed}, ${numRuns} sequences of up to ${maxCommands} steps`)
  const steps = fc.commands([stepOf(settings)], {
    maxCommands,
    size: 'max',
    ...(replayPath === null ? {} : { replayPath }),
  })
  const tally = new Tally()
  const property = fc.asyncProperty(steps, (sequence) => runSequence(settings.open, sequence, tally))
  const details = await fc.check(property, { seed, numRuns, ...(path === undefined ? {} : { path }) })
  if (details.failed) {
    // Not as comments: a log that shows failures alone would leave them out.
    t.fail(`a sequence fails; it was made shorter ${details.numShrinks} times`, reportOf(settings.name, details))
    return
  }
  t.comment(`done, refused, unanswered: ${tally.lines.sort().join('; ')}`)
  t.same(
    details.numRuns < SEQUENCES_OF_ALL_KINDS || path !== undefined ? [] : tally.neverDone,
    [],
    `${numRuns} sequences, with successes of every kind`,
  )
}

/**
 * One sequence against a store of its own.
 * @throws Error when the store is not as the model
 */
export async function runSequence(
  open: SequenceSettings['open'],
  steps: Parameters<typeof fc.asyncModelRun<Model, ModelStore, false, Model>>[1],
  tally: Tally,
): Promise<void> {
  const dataDirectory = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'object-store-model-'))
  try {
    const store = await open(dataDirectory)
    const model = new Model(tally)
    const run = async () => {
      await prepare(model, store)
      await fc.asyncModelRun(() => ({ model, real: store }), steps)
      await compareFully(model, store)
      if (store.counts !== undefined) await requireNoLeftovers(model, store, store.counts)
    }
    // The first fault tells more than what it leaves behind.
    const [ran, ended] = [await settled(run), await settled(() => store.end())]
    const fault = ran ?? ended
    if (fault !== undefined) throw new Error(`${String(fault)}\nafter\n${shortLog(model.log)}`, { cause: fault })
    if (model.restarts > 0) await checkFiles(new StorePaths(dataDirectory))
  } finally {
    rmSync(dataDirectory, { recursive: true })
  }
}

/** Without the reads of comparisons, of which there are many. */
function shortLog(log: readonly string[]): string {
  return log.filter((line) => !/^(GET|HEAD) .*: 200 $/.test(line) || line.includes(' at once ')).join('\n')
}

/** What it was rejected with. */
async function settled(work: () => Promise<void>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

type FailedRun = Pick<fc.RunDetails<unknown[]>, 'seed' | 'counterexamplePath' | 'counterexample' | 'errorInstance'>

/** One bucket of each kind is there from the beginning. */
export async function prepare(model: Model, store: ModelStore): Promise<void> {
  const operations = [
    createBucket('plain', false),
    createBucket('versioned', false),
    putVersioning('versioned', 'Enabled'),
    createBucket('locked', true),
  ]
  for (const operation of operations) await model.carryOut(store, operation)
}

/** The journal is whole, and what is made from it again is what is there. */
async function checkFiles(paths: StorePaths): Promise<void> {
  const { intact, problems } = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
  if (!intact) throw new Error(`the journal is damaged: ${JSON.stringify(problems)}`)
  const { differenceCount, differences } = await checkProjections(nodeDisk, paths)
  if (differenceCount > 0) throw new Error(`projections differ: ${JSON.stringify(differences.slice(0, 3))}`)
}

/** How to run the failed sequence again, and what happened in it. */
function reportOf(name: string, { seed, counterexamplePath, counterexample, errorInstance }: FailedRun) {
  const steps = String(counterexample?.[0])
  const replay = /replayPath="([^"]*)"/.exec(steps)?.[1]
  const again = `MODEL_${name}_SEED=${seed} MODEL_${name}_PATH=${counterexamplePath}`
  const replays = replay === undefined ? '' : ` MODEL_${name}_REPLAY=${replay}`
  return { again: `${again}${replays}`, report: String(errorInstance) }
}
