/** Tries a share of the sequences. */
import { serveShare } from '../shares.ts'
import { chosen } from './sequences.ts'
import { Trial } from './trial.ts'

await serveShare(async ({ index, of, amount, seed }, say) => {
  const trial = new Trial(seed + index)
  for (const sequence of chosen(amount, seed).filter((_, number) => number % of === index)) {
    for (const found of await trial.run([sequence])) say(found)
  }
  return trial.counts
})
