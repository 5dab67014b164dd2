import type { ProjectionEnvironment, Table } from './lmdb-environment.ts'
import { APPLIED } from './tables/applied.ts'
import { AUDIT_INDEX } from './tables/audit-index.ts'
import { BUCKETS } from './tables/buckets.ts'
import { OBJECTS } from './tables/objects.ts'
import { PAYLOAD_FILES, PAYLOADS } from './tables/payloads.ts'
import { BUCKET_USAGE, FILE_USAGE, VOLUME_USAGE } from './tables/usage.ts'

/** Every table there is; `projections check` compares each of them row by row. */
export const TABLE_NAMES = [
  APPLIED,
  AUDIT_INDEX,
  BUCKETS,
  OBJECTS,
  PAYLOADS,
  PAYLOAD_FILES,
  BUCKET_USAGE,
  VOLUME_USAGE,
  FILE_USAGE,
] as const

/** All tables, opened. */
export interface Tables {
  readonly applied: Table
  readonly auditIndex: Table
  readonly buckets: Table
  readonly objects: Table
  readonly payloads: Table
  readonly payloadFiles: Table
  readonly bucketUsage: Table
  readonly volumeUsage: Table
  readonly fileUsage: Table
}

export function openTables(environment: ProjectionEnvironment): Tables {
  return {
    applied: environment.table(APPLIED),
    auditIndex: environment.table(AUDIT_INDEX),
    buckets: environment.table(BUCKETS),
    objects: environment.table(OBJECTS),
    payloads: environment.table(PAYLOADS),
    payloadFiles: environment.table(PAYLOAD_FILES),
    bucketUsage: environment.table(BUCKET_USAGE),
    volumeUsage: environment.table(VOLUME_USAGE),
    fileUsage: environment.table(FILE_USAGE),
  }
}
