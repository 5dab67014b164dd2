import { rmSync } from 'node:fs'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { type Counts, inShares, scratchDirectory } from '../shares.ts'
import { compareCoverage, everything, MET } from './coverage.ts'

/** Fewer worlds may leave out a kind of request, or what the list says that worlds meet. */
const WORLDS_FOR_EVERYTHING = 300

async function run(task: ProofTask): Promise<ProofResult> {
  const { amount, seed, say } = task
  const started = process.hrtime.bigint()
  const scratch = scratchDirectory(task)
  const entry = new URL('world-share.js', import.meta.url)
  const counts = await inShares(entry, { amount, seed, directory: scratch }, say).finally(() =>
    rmSync(scratch, { recursive: true, force: true }),
  )
  const { worlds = 0, requests = 0, restarts = 0, wrong = 0, processorMilliseconds = 0, ...kinds } = counts
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  const processorSeconds = processorMilliseconds / 1000
  say(`${(worlds / seconds).toFixed(1)} worlds a second, ${(worlds / processorSeconds).toFixed(1)} a processor second`)
  const met = new Set(namesWith(MET, kinds))
  const { missing, stale } = compareCoverage(met)
  say(`${met.size} of ${everything().length} operations, routes, changes, workers and error codes were met`)
  if (stale.length > 0) say(`met, though unmet.json has them: ${stale.join(', ')}`)
  const isAll = amount >= WORLDS_FOR_EVERYTHING
  if (isAll && missing.length > 0) say(`met by no world: ${missing.join(', ')}`)
  const never = neverDone(kinds)
  if (never.length > 0) say(`never done: ${never.join(', ')}`)
  const isWhole = !isAll || (never.length === 0 && missing.length === 0)
  const summary = `${worlds} worlds, ${requests} requests, ${restarts} restarts, ${wrong} wrong`
  return { summary, passed: wrong === 0 && worlds === amount && isWhole }
}

/** What comes after a word in the names of counts. */
function namesWith(word: string, counts: Counts): string[] {
  return Object.keys(counts).flatMap((name) => (name.startsWith(word) ? name.slice(word.length) : []))
}

/** Kinds of requests none of which was answered with success in any world. @param kinds counts by `kind: what` */
function neverDone(kinds: Counts): string[] {
  const counted = Object.keys(kinds).filter((name) => !name.startsWith(MET))
  const names = new Set(counted.map((name) => name.slice(0, name.lastIndexOf(':'))))
  return [...names].filter((name) => (kinds[`${name}:done`] ?? 0) === 0).toSorted()
}

/** The whole server in one thread under one seed. */
export const worldProof: Proof = {
  name: 'world',
  tries: 'the server in one thread under one seed: strikes, faults, cut connections, clocks and restarts, by the model',
  unit: 'worlds',
  amount: 300,
  run,
}
