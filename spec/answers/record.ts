/** Runs blocks against servers of a checkout and gathers what they saw. */
import type { Block } from './block.ts'
import { otherLines, readTrail, recordLines } from './journal-records.ts'
import type { Exchange } from './recording.ts'
import { startServer } from './server.ts'
import { Talk } from './talk.ts'

/** Blocks that share a server. */
interface Group {
  readonly blocks: readonly Block[]
  readonly settings: Readonly<Record<string, string>>
}

function groupsOf(blocks: readonly Block[]): Group[] {
  const shared = blocks.filter(({ alone }) => alone !== true)
  const alone = blocks.filter((block) => block.alone === true)
  const groups = alone.map((block) => ({ blocks: [block], settings: block.settings ?? {} }))
  return shared.length === 0 ? groups : [{ blocks: shared, settings: {} }, ...groups]
}

async function recordGroup(checkout: string, { blocks, settings }: Group): Promise<Exchange[]> {
  const server = await startServer(checkout, settings)
  const talks: Talk[] = []
  try {
    for (const block of blocks) {
      const talk = new Talk(block.name, server, block.steady)
      talks.push(talk)
      try {
        await block.run(talk)
      } catch (error) {
        throw new Error(`block ${block.name}, after ${talk.exchanges.at(-1)?.exchange.ask}`, { cause: error })
      } finally {
        talk.close()
      }
    }
  } finally {
    await server.stop()
  }
  const trail = await readTrail(checkout, server)
  server.remove()
  const exchanges = talks.flatMap((talk) => {
    const told = new Set<string>()
    return talk.exchanges.map(({ exchange, requestId }): Exchange => {
      // An id that a client chose may come twice: its records are told with the first.
      const records = told.has(requestId) ? [] : (trail.byRequest.get(requestId) ?? [])
      told.add(requestId)
      return { ...exchange, records: recordLines(records, talk.names) }
    })
  })
  const [last] = talks
  if (last === undefined || blocks[0]?.alone !== true) return exchanges
  const records = otherLines(trail.others, last.names)
  return [...exchanges, { block: last.block, ask: 'what no request recorded', status: '', head: [], body: '', records }]
}

/** @param say called with each server that is done */
export async function record(
  checkout: string,
  blocks: readonly Block[],
  say: (line: string) => void,
): Promise<Exchange[]> {
  const groups = groupsOf(blocks)
  const results: Exchange[][] = groups.map(() => [])
  const queue = groups.entries()
  // Two at a time: while one waits for a disk or for a start, the other goes on.
  const work = async (): Promise<void> => {
    for (const [index, group] of queue) {
      const start = performance.now()
      results[index] = await recordGroup(checkout, group)
      const names = group.blocks.length === 1 ? group.blocks[0]?.name : `${group.blocks.length} blocks`
      say(`${names}: ${results[index]?.length} requests in ${Math.round(performance.now() - start)} ms`)
    }
  }
  await Promise.all([work(), work()])
  return results.flat()
}
