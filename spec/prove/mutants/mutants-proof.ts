import * as fs from 'node:fs'
import type { Breakage } from '../disk/breakage.ts'
import { Intervals } from '../disk/intervals.ts'
import { runSeed } from '../disk/seed.ts'
import type { Proof } from '../proof.ts'
import { scratchDirectory } from '../shares.ts'
import { MUTANTS } from './mutant-list.ts'

/** Shows that the proof `disk` would notice: each store that is broken on purpose is caught by it. */
export const mutantsProof: Proof = {
  name: 'mutants',
  tries: 'stores that are broken on purpose, each within so many seeds of the proof disk',
  unit: 'seeds',
  amount: 1000,
  // A calibration: the same seeds each time, so that a mutant that is rarely hit does not fail one run in many.
  seed: 1,
  async run(task) {
    const directory = scratchDirectory(task)
    const intervals = new Intervals()
    let caught = 0
    try {
      for (const mutant of MUTANTS) {
        const found = await firstFinding(mutant, task.seed, task.amount, directory, intervals)
        if (found !== undefined) caught += 1
        task.say(`${mutant.name}: ${found ?? `NOT caught in ${task.amount} seeds`}`)
      }
    } finally {
      intervals.restore()
      fs.rmSync(directory, { recursive: true, force: true })
    }
    return { summary: `${caught} of ${MUTANTS.length} caught`, passed: caught === MUTANTS.length }
  },
}

async function firstFinding(
  mutant: Breakage,
  firstSeed: number,
  seeds: number,
  directory: string,
  intervals: Intervals,
): Promise<string | undefined> {
  for (let count = 1; count <= seeds; count += 1) {
    const { findings } = await runSeed(firstSeed + count - 1, directory, intervals, mutant)
    const [first] = findings
    if (first !== undefined) return `caught after ${count} seeds: ${first.text.slice(0, 160)}`
  }
  return undefined
}
