import { rmSync } from 'node:fs'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { inShares, scratchDirectory } from '../shares.ts'
import { CYCLES, chosen } from './kinds-of-work.ts'

async function run(task: ProofTask): Promise<ProofResult> {
  const { amount, seed, say } = task
  const scratch = scratchDirectory(task)
  try {
    const entry = new URL('fail-at-share.js', import.meta.url)
    const counts = await inShares(entry, { amount, seed, directory: scratch }, say)
    const { kinds = 0, faults = 0, lost = 0, wrong = 0 } = counts
    const summary = `${faults} faults at ${kinds} kinds of work, ${lost} lost, ${wrong} wrong`
    return { summary, passed: lost + wrong === 0 && kinds === chosen(amount, seed).length }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Each operation fails once (X2 of the requirements). */
export const failAt: Proof = {
  name: 'fail-at',
  tries: `each operation of the disk fails, at each kind of work, in each way, once and for ever; ${CYCLES} cycles are all kinds`,
  unit: 'cycles',
  amount: CYCLES,
  run,
}
