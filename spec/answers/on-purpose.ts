/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /^body: "_after\\":\\"0{8}/,
    ask: /reports\/retention/,
    reason: 'the place to go on from has sequences of the journal in it, and requests of other blocks run beside',
  },
]
