/** How much runs at once. */
import type { ConfigRow } from '../config-row.ts'

export const limitsSettings = [
  {
    name: 'limits.maximum_concurrent_operations',
    kind: 'integer',
    unit: 'operations',
    bounds: { minimum: 1, maximum: 65_536 },
    default: 1024,
    sentence: 'Operations that may run at the same time, on both planes together; the rest wait in the queue.',
  },
  {
    name: 'limits.maximum_queued_operations',
    kind: 'integer',
    unit: 'operations',
    bounds: { minimum: 0, maximum: 1_048_576 },
    default: 4096,
    sentence: 'Operations that may wait for a turn; any more are refused with SlowDown. 0: no queue.',
  },
  {
    name: 'limits.queue_wait_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 300 },
    default: 10,
    sentence: 'How long an operation may wait for a turn before it is refused with SlowDown.',
  },
  {
    name: 'limits.account_share_percent',
    kind: 'integer',
    unit: 'percent',
    bounds: { minimum: 1, maximum: 100 },
    default: 50,
    sentence:
      'Share of the running and of the queued operations that one account may take; administrators are not limited.',
  },
] as const satisfies readonly ConfigRow[]
