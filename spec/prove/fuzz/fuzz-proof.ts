import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { CORPUS_DIRECTORY, readCorpus } from './corpus.ts'
import { fuzz } from './fuzz.ts'
import { TARGETS } from './targets.ts'

/** For each target, on a machine that has no time for it. */
const INPUTS_MINIMUM = 200

/** Nothing that comes from outside crashes a reader, holds it up, or is accepted although it is not valid (X7). */
export const fuzzProof: Proof = {
  name: 'fuzz',
  tries: 'inputs made by chance for every reader of what comes from outside',
  unit: 'seconds',
  amount: 60,
  run: runFuzz,
}

async function runFuzz({ amount, seed, say }: ProofTask): Promise<ProofResult> {
  const targets = TARGETS.map(({ name }) => name)
  const { inputs, broken, lacking } = await fuzz({
    module: new URL('./targets.js', import.meta.url).href,
    targets,
    seed,
    millisecondsPerTarget: (amount * 1000) / targets.length,
    inputsMinimum: INPUTS_MINIMUM,
    corpus: readCorpus(CORPUS_DIRECTORY),
    corpusDirectory: CORPUS_DIRECTORY,
    say,
  })
  for (const line of lacking) say(line)
  const { crash, hang, accepted } = broken
  const figures = `${inputs.toLocaleString('en')} inputs to ${targets.length} targets`
  return {
    summary: `${figures}, ${crash} crashes, ${hang} hangs, ${accepted} accepted`,
    passed: lacking.length === 0 && crash + hang + accepted === 0,
  }
}
