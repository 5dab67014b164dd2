/** Limits on records of requests. */
import type { ConfigRow } from '../config-row.ts'

const KIBIBYTES_PER_GIBIBYTE = 1024 * 1024

export const auditSettings = [
  {
    name: 'audit.anonymous_kib_per_second',
    kind: 'integer',
    unit: 'KiB/s',
    bounds: { minimum: 1, maximum: KIBIBYTES_PER_GIBIBYTE },
    default: 64,
    sentence:
      'Rate at which requests without valid credentials may write records of their own to the journal, with a burst of 16 seconds; ' +
      'beyond it they are only counted, in one record per address every 10 seconds.',
  },
  {
    name: 'audit.index',
    kind: 'boolean',
    default: true,
    sentence:
      'Whether an index of the audit log is made of each sealed segment of the journal, by which records of an object, a bucket or a principal are found without reading the others.',
  },
  {
    name: 'audit.index_mib_per_second',
    kind: 'integer',
    unit: 'MiB/s',
    bounds: { minimum: 1, maximum: 10_240 },
    default: 16,
    sentence: 'Maximum rate at which the index is made: of the journal that is read, and of what is written.',
  },
] as const satisfies readonly ConfigRow[]
