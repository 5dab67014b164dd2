/** The good clients of the proof `crowd`, what they were answered, and whether that was good enough. */
import { setTimeout as sleep } from 'node:timers/promises'

/** One kind of good client. */
export interface GoodClient {
  /** For the reader. */
  readonly name: string
  /** Asks once; gives the status. */
  readonly ask: () => Promise<number>
  /** How many of them ask at once, each with so many milliseconds between an answer and the next question. */
  readonly count: number
  readonly pauseMilliseconds: number
  /** So many of a hundred answers must be there within so many milliseconds. All of them must be 200. */
  readonly percent: number
  readonly millisecondsMaximum: number
}

/** What one kind of good client has seen. */
export interface Seen {
  readonly milliseconds: number[]
  readonly failures: string[]
}

/**
 * Asks one after the other, with a pause between, until `isOver`, but at least once.
 * @param patienceMilliseconds how long a client waits for its answer
 */
export async function goOn(good: GoodClient, patienceMilliseconds: number, isOver: () => boolean): Promise<Seen> {
  const seen: Seen = { milliseconds: [], failures: [] }
  do {
    const beganAt = performance.now()
    const answered = new AbortController()
    const { signal } = answered
    try {
      const status = await Promise.race([good.ask(), sleep(patienceMilliseconds, 'none' as const, { signal })])
      if (status !== 200) seen.failures.push(`status ${status}`)
    } catch (error) {
      seen.failures.push(String(error))
    }
    answered.abort()
    seen.milliseconds.push(performance.now() - beganAt)
    await sleep(good.pauseMilliseconds)
  } while (!isOver())
  return seen
}

/** The value that so many of a hundred do not pass; infinite when nothing was seen. */
export function percentile(milliseconds: readonly number[], percent: number): number {
  const sorted = milliseconds.toSorted((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.POSITIVE_INFINITY
}

/**
 * What was not as it should be, each in a few words; empty when all was well.
 * @param slowness by how much the client may take longer than on a machine at rest
 */
export function judge(good: GoodClient, { milliseconds, failures }: Seen, slowness: number): string[] {
  const { name, percent } = good
  const [taken, allowed] = [percentile(milliseconds, percent), good.millisecondsMaximum * slowness]
  const wrong = []
  if (taken > allowed) wrong.push(`${name} took ${taken.toFixed(0)} ms, ${allowed.toFixed(0)} are allowed`)
  if (failures.length > 0) {
    wrong.push(`${name} failed ${failures.length} of ${milliseconds.length} times: ${failures[0]}`)
  }
  return wrong
}
