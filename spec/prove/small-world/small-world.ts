import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { inShares } from '../shares.ts'
import { CYCLES } from './sequences.ts'

const LINES_MAXIMUM = 20

async function run({ amount, seed, directory, say }: ProofTask): Promise<ProofResult> {
  let lines = 0
  const entry = new URL('small-world-share.js', import.meta.url)
  const counts = await inShares(entry, { amount, seed, directory }, (line) => {
    lines += 1
    if (lines <= LINES_MAXIMUM) say(line)
  })
  const { sequences = 0, moments = 0, sampled = 0, again = 0, crashes = 0, lost = 0, wrong = 0 } = counts
  if (lines > LINES_MAXIMUM) say(`and ${lines - LINES_MAXIMUM} more`)
  say(
    `${moments} moments, ${sampled} of them with too many outcomes for all; ${again} times the start was cut short as well`,
  )
  const passed = crashes > 0 && again > 0 && lost + wrong === 0
  return { summary: `${sequences} sequences, ${crashes} crashes, ${lost} lost, ${wrong} wrong`, passed }
}

/** Short sequences, wholly (X3 of the requirements). */
export const smallWorld: Proof = {
  name: 'small-world',
  tries: `each outcome of a power cut at each moment of short sequences; ${CYCLES} cycles are all there are`,
  unit: 'cycles',
  amount: CYCLES / 4,
  run,
}
