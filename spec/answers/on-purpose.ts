/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /^body: .*\\"time\\":\\"###T/,
    ask: /\/system\/metrics\/history/,
    reason: 'there are as many readings as ten seconds have passed',
  },
]
