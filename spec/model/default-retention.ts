/** What the default retention of a bucket gives, in the model. */
import { millisecondsOf } from '../../engine/brands.ts'
import type { Retention } from '../../engine/events/values.ts'
import type { ModelBucket } from './state.ts'

const DAY = 24 * 60 * 60 * 1000

/** What the default of a bucket gives to a version of this moment. */
export function standardOf({ defaultRetention: standard }: ModelBucket, now: number): Retention | undefined {
  if (standard === undefined) return undefined
  const days = standard.value * (standard.unit === 'years' ? 365 : 1)
  return { mode: standard.mode, untilMilliseconds: millisecondsOf(now + days * DAY) }
}

/** The latest end, and compliance when one of them is. */
export function strictest(candidates: readonly (Retention | undefined)[]): Retention | undefined {
  const all = candidates.filter((one) => one !== undefined)
  if (all.length === 0) return undefined
  const untilMilliseconds = millisecondsOf(Math.max(...all.map((one) => one.untilMilliseconds)))
  return { mode: all.some(({ mode }) => mode === 'COMPLIANCE') ? 'COMPLIANCE' : 'GOVERNANCE', untilMilliseconds }
}
