import type { Milliseconds } from '../../engine/brands.ts'

/** How far the clock of the host is behind the last entry of the journal. */
export interface ClockBehind {
  /** 0 when it is not behind. */
  readonly milliseconds: number
  /** The time of the entry: when the host's clock reaches it, all is well again. */
  readonly untilMilliseconds: number
}

/**
 * @param host the host's clock
 * @param entry order time of the last entry of the journal, in milliseconds
 */
export function clockBehind(host: Milliseconds, entry: number): ClockBehind {
  return { milliseconds: Math.max(0, entry - host), untilMilliseconds: entry }
}

/** What it means, how far it goes and until when, and what to do. This sentence is public. */
export function behindSentence({ milliseconds, untilMilliseconds }: ClockBehind): string {
  const seconds = Math.ceil(milliseconds / 1000)
  const until = new Date(untilMilliseconds).toISOString()
  const how = `the clock of the host is ${seconds} seconds behind the last entry of the journal, until ${until}`
  return `${how}; no lock is released until then, and what has expired stays so. Set the clock right if it is wrong; if it is right, the journal has a wrong time: object-store clock set-back --reason TEXT`
}
