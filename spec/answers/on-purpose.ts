/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /^body: .*\\"time\\":\\"###T/,
    ask: /\/system\/metrics\/history/,
    reason: 'there are as many readings as ten seconds have passed',
  },
  {
    shape: /http_driver/,
    ask: /\/system\/info|\/openapi\.json/,
    reason: 'a server says which library speaks HTTP, since there are two',
  },
  {
    shape: /unknown.*success.* is now .*unknown.*denied/,
    ask: /\/metrics\b/,
    reason: 'no metric series waits for results that cannot occur, or for an operation that is not implemented',
  },
]
