/** `npm run prove`: one machine after the other that tries to break what the README promises. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProofRun, proofRunOf, UsageError, usage } from './command-line.ts'
import { PROOFS } from './proof-list.ts'

const EXIT = { passed: 0, failed: 1, usage: 2 } as const

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function run({ proof, amount, seed }: ProofRun): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), `prove-${proof.name}-`))
  say(`npm run prove -- ${proof.name} --${proof.unit} ${amount} --seed ${seed}`)
  // A proof that waits for what never comes ends here without a verdict, which is not a success.
  process.exitCode = EXIT.failed
  const { summary, passed } = await proof.run({ amount, seed, directory, say })
  if (passed) rmSync(directory, { recursive: true, force: true })
  else say(`what is left of it: ${directory}`)
  say(`${proof.name}: ${summary}`)
  return passed ? EXIT.passed : EXIT.failed
}

try {
  process.exitCode = await run(proofRunOf(process.argv.slice(2), PROOFS, Date.now()))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${usage(PROOFS)}`)
  process.exitCode = EXIT.usage
}
