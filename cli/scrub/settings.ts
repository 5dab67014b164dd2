/** The scrub, which reads everything that is stored to find damage. */
import type { ConfigRow } from '../config/config-row.ts'

export const scrubSettings = [
  {
    name: 'scrub.interval_days',
    kind: 'integer',
    unit: 'days',
    bounds: { minimum: 0, maximum: 3650 },
    default: 30,
    sentence:
      'Days between the end of one scrub, which reads everything stored to find damage, and the start of the next; 0: only on request.',
  },
  {
    name: 'scrub.mib_per_second',
    kind: 'integer',
    unit: 'MiB/s',
    bounds: { minimum: 1, maximum: 10_000 },
    default: 16,
    sentence: 'Maximum rate at which a scrub reads.',
  },
] as const satisfies readonly ConfigRow[]
