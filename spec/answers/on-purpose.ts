/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /./,
    ask: /\/api\/v1\/events/,
    reason: 'there are storage events, and their ids are sequences of the journal',
  },
  { shape: /^body: .*\/api\/v1\/events/, ask: /openapi\.json/, reason: 'the routes of storage events' },
  { shape: /^body: .*events\\":true/, ask: /system\/info/, reason: 'the capability `events`' },
]
