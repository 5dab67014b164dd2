/** What requests of this thread share, and what of it is in use: nothing may be left of a request that is over. */
import { type Share, type Shares, sharesOfThread } from '../../../engine/shares/shares.ts'
import type { ShareName } from '../../../engine/shares/share-table.ts'

/** Has no account of the store. */
const HOLDER = 'somebody else'
/** Counters are what they were after so many milliseconds of the stopwatch. */
const QUIET_MILLISECONDS = 2000

/** What is in use of each. */
export type SharesInUse = ReadonlyMap<Shares, string>

export function sharesInUse(): SharesInUse {
  return new Map([...sharesOfThread()].map((shares) => [shares, `${shares.used} used, ${shares.waiting} waiting`]))
}

/** @throws Error when something is still in use that was not before */
export async function requireSharesBack(before: SharesInUse, after: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, QUIET_MILLISECONDS))
  for (const [shares, now] of sharesInUse()) {
    const was = before.get(shares) ?? '0 used, 0 waiting'
    if (now !== was) throw new Error(`after ${after} ${shares.name} has ${now}, and had ${was}`)
  }
}

/**
 * Takes all units of a name but some, as something does that does not give way.
 * @returns gives them back
 */
export function holdAllBut(left: number, name: ShareName): () => void {
  const held = [...sharesOfThread()].flatMap((shares): Share[] => {
    const free = shares.capacity - shares.used - left
    if (shares.name !== name || free <= 0) return []
    return [shares.take(HOLDER, free)].filter((share) => share !== undefined)
  })
  return () => {
    for (const share of held) share.leave()
  }
}
