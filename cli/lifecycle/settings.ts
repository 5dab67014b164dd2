/** Passes over the lifecycle rules. */
import type { ConfigRow } from '../config/config-row.ts'

export const lifecycleSettings = [
  {
    name: 'lifecycle.interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 86_400 },
    default: 3600,
    sentence: 'How often a pass over the lifecycle rules starts.',
  },
  {
    name: 'lifecycle.batch_size',
    kind: 'integer',
    unit: 'entries',
    bounds: { minimum: 1, maximum: 1000 },
    default: 100,
    sentence: 'Maximum number of objects, or noncurrent versions, that one pass removes for each rule and action.',
  },
] as const satisfies readonly ConfigRow[]
