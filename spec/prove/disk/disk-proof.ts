import * as fs from 'node:fs'
import type { Proof, ProofTask } from '../proof.ts'
import type { Finding } from '../../support/dying-servers/client-findings.ts'
import { scratchDirectory } from '../shares.ts'
import { addTally, emptyTally, type Tally } from './findings.ts'
import { Intervals } from './intervals.ts'
import { runSeed } from './seed.ts'

/** Seeds between two lines about how far it is. */
const SEEDS_PER_LINE = 1000
/** From so many seeds on, everything that can be tried must have been. */
const SEEDS_FOR_EVERYTHING = 100

/** Crashes, faults and damage on a simulated disk (X1 of the requirements). */
export const diskProof: Proof = {
  name: 'disk',
  tries: 'power cuts, kills, faults and damage on a simulated disk',
  unit: 'seeds',
  amount: 150,
  async run(task) {
    const directory = scratchDirectory(task)
    const intervals = new Intervals()
    const tally = emptyTally()
    const counts = { lost: 0, wrong: 0 }
    try {
      for (let index = 0; index < task.amount; index += 1) {
        const seed = task.seed + index
        const report = await runSeed(seed, directory, intervals)
        addTally(tally, report.tally)
        for (const { kind } of report.findings) counts[kind] += 1
        sayFindings(task, seed, report.findings)
        if ((index + 1) % SEEDS_PER_LINE === 0) task.say(`${index + 1} seeds: ${told(tally)}`)
      }
    } finally {
      intervals.restore()
      fs.rmSync(directory, { recursive: true, force: true })
    }
    task.say(told(tally))
    const untried = task.amount < SEEDS_FOR_EVERYTHING ? [] : namesOfZeros(tally)
    if (untried.length > 0) task.say(`never happened: ${untried.join(', ')}`)
    const summary = `${tally.crashes} crashes, ${counts.lost} lost, ${counts.wrong} wrong`
    return { summary, passed: tally.crashes > 0 && counts.lost + counts.wrong === 0 && untried.length === 0 }
  },
}

/** All that is lost in one store has one cause: the first of it is enough. */
function sayFindings({ say }: ProofTask, seed: number, findings: readonly Finding[]): void {
  const [first] = findings
  if (first === undefined) return
  say(`seed ${seed}: ${first.kind}: ${first.text}${findings.length > 1 ? ` (and ${findings.length - 1} more)` : ''}`)
  say(`  again: npm run prove -- disk --seeds 1 --seed ${seed}`)
}

function told(tally: Tally): string {
  const { crashes, crashesInRecovery, acknowledged, faults, damages, damagesNamed } = tally
  const {
    snapshots,
    snapshotStarts,
    snapshotsRefused,
    tailsCut,
    segments,
    coldSegments,
    rebuilds,
    volumesRemoved,
    removals,
    deliveries,
  } = tally
  return [
    `${crashes} crashes (${crashesInRecovery} in recovery)`,
    `${acknowledged} commands acknowledged`,
    `${faults} faults`,
    `${damages} damages (${damagesNamed} named)`,
    `${tailsCut} tails cut`,
    `${segments} segments`,
    `${coldSegments} compressed`,
    `${snapshots} snapshots (${snapshotStarts} used, ${snapshotsRefused} refused)`,
    `${volumesRemoved} volumes compacted`,
    `${removals} removed by age`,
    `${deliveries} deliveries`,
    `${rebuilds} rebuilds compared`,
  ].join(', ')
}

function namesOfZeros(tally: Tally): string[] {
  return Object.entries(tally).flatMap(([name, count]) => (count === 0 ? [name] : []))
}
