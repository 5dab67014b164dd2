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
  { shape: /object_browser/, ask: /system\/info/, reason: 'the console is an object browser' },
  {
    shape: /\b(?:share|embed)-[a-z2-7]{20}/,
    ask: /object-(?:shares|embeds)/,
    reason: 'ids of links are made by chance',
  },
  { shape: /\/d\//, ask: /object-download/, reason: 'a ticket is made by chance' },
]
