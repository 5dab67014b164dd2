/** Gives files of the corpus to their targets again: `node build/spec/prove/fuzz/replay.js FILE...` */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { trialOf } from './breakage.ts'
import { targetOfFile } from './corpus.ts'
import { TARGETS } from './targets.ts'

for (const path of process.argv.slice(2)) {
  const name = targetOfFile(basename(path))
  const target = TARGETS.find((one) => one.name === name)
  if (target === undefined) throw new Error(`there is no target ${name}`)
  const input = readFileSync(path)
  process.stdout.write(`${path}, ${input.length} bytes: ${JSON.stringify(input.toString('latin1').slice(0, 2000))}\n`)
  const trial = await trialOf(target, input)
  if ('breakage' in trial) process.exitCode = 1
  process.stdout.write(`${JSON.stringify(trial)}\n`)
}
