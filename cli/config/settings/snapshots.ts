/** Snapshots of the projections. */
import type { ConfigRow } from '../config-row.ts'

export const snapshotsSettings = [
  {
    name: 'snapshots.enabled',
    kind: 'boolean',
    default: true,
    sentence:
      'Whether snapshots of the projections are made, so that a start after a power cut does not have to replay the whole journal.',
  },
  {
    name: 'snapshots.records',
    kind: 'integer',
    unit: 'records',
    bounds: { minimum: 1000, maximum: 1_000_000_000 },
    default: 1_000_000,
    sentence: 'A snapshot is made once this many records are in segments sealed since the last one.',
  },
  {
    name: 'snapshots.interval_minutes',
    kind: 'integer',
    unit: 'minutes',
    bounds: { minimum: 1, maximum: 10_080 },
    default: 60,
    sentence: 'A snapshot is also made after this time, if a segment was sealed since the last one.',
  },
  {
    name: 'snapshots.mib_per_second',
    kind: 'integer',
    unit: 'MiB/s',
    bounds: { minimum: 1, maximum: 10_240 },
    default: 32,
    sentence: 'Maximum rate at which a snapshot is written.',
  },
  {
    name: 'snapshots.kept',
    kind: 'integer',
    unit: 'snapshots',
    bounds: { minimum: 1, maximum: 2 },
    default: 2,
    sentence: 'How many snapshots are kept; the second is used if the first is damaged.',
  },
] as const satisfies readonly ConfigRow[]
