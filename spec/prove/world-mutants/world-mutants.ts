import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { scratchDirectory } from '../shares.ts'
import type { Life, Lives } from './lives.ts'
import { inhabitantsOf, type WorldMutant, worldsOf } from './mutant.ts'
import { WORLD_MUTANTS } from './mutant-list.ts'
import { mutatedProgram } from './mutated-program.ts'

/** A world takes a second or two; one that takes as long as this does not end. */
const WORLD_MILLISECONDS_MAXIMUM = 120_000
const TEXT_MAXIMUM = 160

/** What worlds made of a mutant. */
export interface Verdict {
  /** Worlds that were lived through, with the one in which it was found. */
  readonly worlds: number
  /** What did not hold; undefined where everything did. */
  readonly finding: string | undefined
}

/**
 * Lives through the worlds of the seeds from 1 on with a mutant, in a process of its own, up to the first in which something
 * does not hold.
 * @param inhabitants kinds of steps that they have
 * @param directory empty; the caller removes it
 * @throws EditError
 */
export async function tryMutant(
  { edits, breakage }: Pick<WorldMutant, 'edits' | 'breakage'>,
  worlds: number,
  inhabitants: number,
  directory: string,
): Promise<Verdict> {
  const program = mutatedProgram(edits, directory)
  const entry = join(program, 'spec/prove/world-mutants/lives.js')
  const asked = JSON.stringify({ worlds, inhabitants, breakage } satisfies Lives)
  const child = spawn(process.execPath, [entry, asked], { stdio: ['ignore', 'pipe', 'pipe'] })
  const lived: Life[] = []
  let errors = ''
  let rest = ''
  let standsStill = false
  const end = () => {
    standsStill = true
    child.kill('SIGKILL')
  }
  let timer = setTimeout(end, WORLD_MILLISECONDS_MAXIMUM)
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-TEXT_MAXIMUM * 10)
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    lived.push(...lines.map((line) => JSON.parse(line) as Life))
    clearTimeout(timer)
    timer = setTimeout(end, WORLD_MILLISECONDS_MAXIMUM)
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(timer)
  const finding = lived.at(-1)?.finding
  if (finding !== undefined || (code === 0 && lived.length === worlds)) return { worlds: lived.length, finding }
  const how = standsStill ? 'the world does not end' : `the process ended: ${errors.trim()}`
  return { worlds: lived.length + 1, finding: how }
}

/** Whether worlds made of a mutant what is expected. */
function isExpected({ expected }: WorldMutant, { finding }: Verdict): boolean {
  return 'within' in expected === (finding !== undefined)
}

async function run(task: ProofTask): Promise<ProofResult> {
  const waiting = WORLD_MUTANTS.filter((mutant) => worldsOf(mutant) <= task.amount)
  const tried = waiting.length
  let asExpected = 0
  const scratch = scratchDirectory(task)
  const lane = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const directory = fs.mkdtempSync(join(scratch, 'mutant-'))
      const verdict = await tryMutant(mutant, worldsOf(mutant), inhabitantsOf(mutant), directory)
      fs.rmSync(directory, { recursive: true, force: true })
      const told =
        verdict.finding === undefined
          ? 'nothing was found'
          : verdict.finding.replaceAll('\n', ' ').slice(0, TEXT_MAXIMUM)
      if (isExpected(mutant, verdict)) asExpected += 1
      task.say(
        `${mutant.name}: ${isExpected(mutant, verdict) ? '' : 'NOT AS EXPECTED, '}${verdict.worlds} worlds: ${told}`,
      )
    }
  }
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, lane))
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  return { summary: `${asExpected} of ${tried} mutants as expected`, passed: tried > 0 && asExpected === tried }
}

/** Shows what the proof `world` would notice: faults that are put into a copy of the program. */
export const worldMutants: Proof = {
  name: 'world-mutants',
  tries: 'programs with a fault put into them, each in so many worlds as show it, where they are at most so many',
  unit: 'worlds',
  amount: 40,
  // What is expected is of the worlds of certain seeds, whatever the command line says.
  seed: 1,
  run,
}
