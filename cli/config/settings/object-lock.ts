/** The clock of retention. */
import type { ConfigRow } from '../config-row.ts'

export const objectLockSettings = [
  {
    name: 'object_lock.clock_watermark_interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 3600 },
    default: 60,
    sentence: 'How often the time is recorded while nothing else is written, so that a clock set back is noticed.',
  },
  {
    name: 'object_lock.clock_backwards_tolerance_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 0, maximum: 3600 },
    default: 5,
    sentence:
      'How far the clock may be behind the last recorded time before the server stops releasing retained versions.',
  },
] as const satisfies readonly ConfigRow[]
