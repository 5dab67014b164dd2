import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { inShares } from '../shares.ts'
import { KINDS_OF_WORK } from './kinds-of-work.ts'

const SHARED_MEMORY = '/dev/shm'

async function run({ amount, seed, directory, say }: ProofTask): Promise<ProofResult> {
  const scratch = mkdtempSync(
    existsSync(SHARED_MEMORY) ? join(SHARED_MEMORY, 'prove-fail-at-') : join(directory, 'scratch-'),
  )
  try {
    const entry = new URL('fail-at-share.js', import.meta.url)
    const counts = await inShares(entry, { amount, seed, directory: scratch }, say)
    const { kinds = 0, faults = 0, lost = 0, wrong = 0 } = counts
    const summary = `${faults} faults at ${kinds / amount} kinds of work, ${lost} lost, ${wrong} wrong`
    return { summary, passed: lost + wrong === 0 && kinds === KINDS_OF_WORK.length * amount }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Each operation fails once (X2 of the requirements). */
export const failAt: Proof = {
  name: 'fail-at',
  tries: 'each operation of the disk fails, at each kind of work, in each way, once and for ever',
  unit: 'cycles',
  amount: 1,
  run,
}
