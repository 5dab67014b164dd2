/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /^body: "_after\\":\\"0{8}/,
    ask: /reports\/retention/,
    reason: 'the place to go on from has sequences of the journal in it, and requests of other blocks run beside',
  },
  {
    shape: /./,
    ask: /\/api\/v1\/events/,
    reason: 'there are storage events, and their ids are sequences of the journal',
  },
  { shape: /^body: .*\/api\/v1\/events/, ask: /openapi\.json/, reason: 'the routes of storage events' },
  { shape: /^body: .*events\\":true/, ask: /system\/info/, reason: 'the capability `events`' },
]
