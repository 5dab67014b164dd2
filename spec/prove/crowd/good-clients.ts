/** The good clients of the proof `crowd`, and what they were answered. */
import { setTimeout as sleep } from 'node:timers/promises'

/** What one kind of good client has seen. */
export interface Seen {
  readonly milliseconds: number[]
  readonly failures: string[]
}

/** Whoever has no answer by then has none. */
const PATIENCE_MILLISECONDS = 5000

/** Asks one after the other, with a pause between, until `isOver`. `ask` gives the status. */
export async function goOn(
  ask: () => Promise<number>,
  pauseMilliseconds: number,
  isOver: () => boolean,
): Promise<Seen> {
  const seen: Seen = { milliseconds: [], failures: [] }
  while (!isOver()) {
    const beganAt = performance.now()
    try {
      const status = await Promise.race([ask(), sleep(PATIENCE_MILLISECONDS, 'none' as const, { ref: false })])
      if (status !== 200) seen.failures.push(`status ${status}`)
    } catch (error) {
      seen.failures.push(String(error))
    }
    seen.milliseconds.push(performance.now() - beganAt)
    await sleep(pauseMilliseconds)
  }
  return seen
}

/** The value that so many of a hundred do not pass; infinite when nothing was seen. */
export function percentile(milliseconds: readonly number[], percent: number): number {
  const sorted = milliseconds.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.POSITIVE_INFINITY
}
