import { Lane } from '../../support/raw/lane.ts'

/** Does the work for each item, over so many connections at once. */
export async function overLanes<T>(
  port: number,
  count: number,
  items: readonly T[],
  work: (lane: Lane, item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const run = async (): Promise<void> => {
    const lane = new Lane(port)
    try {
      while (next < items.length) {
        const item = items[next] as T
        next += 1
        await work(lane, item)
      }
    } finally {
      lane.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, run))
}
