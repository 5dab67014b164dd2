/** Lives through a share of the worlds. */
import { type Counts, type Share, serveShare } from '../shares.ts'
import { MET } from './coverage.ts'
import { shrink } from './shrink.ts'
import { storyOf } from './story.ts'
import { runWorld, STEPS } from './world.ts'

const SHRINKING_MAXIMUM = 300
/** What is wrong with one change is wrong in many worlds: the first are shrunk. */
const SHRUNK_MAXIMUM = 2

async function run({ index, of, amount, seed }: Share, say: (line: string) => void): Promise<Counts> {
  const counts: Record<string, number> = { worlds: 0, requests: 0, restarts: 0, wrong: 0 }
  const add = (name: string, count: number) => {
    counts[name] = (counts[name] ?? 0) + count
  }
  const before = process.cpuUsage()
  for (let number = index; number < amount; number += of) {
    const world = { seed: (seed + number) % 2 ** 32, steps: STEPS }
    const { finding, requests, restarts, tally, met } = await runWorld(world)
    add('worlds', 1)
    add('requests', requests)
    add('restarts', restarts)
    for (const name of met) add(`${MET}${name}`, 1)
    for (const [name, { done, refused, unanswered }] of tally.counts) {
      add(`${name}:done`, done)
      add(`${name}:refused`, refused)
      add(`${name}:unanswered`, unanswered)
    }
    if (finding === undefined) continue
    add('wrong', 1)
    say(`seed ${world.seed}: ${finding}`)
    if ((counts['wrong'] ?? 0) > SHRUNK_MAXIMUM) continue
    const shrunk = await shrink(world, SHRINKING_MAXIMUM)
    const again = await runWorld(shrunk.world)
    say(`the shortest story of ${shrunk.tried} that were tried: ${JSON.stringify(shrunk.world)}`)
    for (const sentence of storyOf(again.log)) say(`  ${sentence}`)
    say(`  ${again.finding}`)
  }
  const { user, system } = process.cpuUsage(before)
  // What is counted is of the whole process, by each of its shares.
  return { ...counts, processorMilliseconds: (user + system) / 1000 / of }
}

await serveShare(run)
