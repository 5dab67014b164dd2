import { merged } from '../../engine/merged.ts'
import { features } from '../features.ts'
import type { ProjectionEnvironment, StoredTable, Table } from '../lmdb-environment.ts'

/** The name of every table, by the name that code uses for it; `projections check` compares each of them row by row. */
export const TABLES = {
  applied: 'applied',
  auditIndex: 'audit-index',
  auditRuns: 'audit-runs',
  bucketNames: 'bucket-names',
  buckets: 'buckets',
  cors: 'cors',
  bucketTags: 'bucket-tags',
  objects: 'objects',
  versions: 'versions',
  nullVersions: 'null-versions',
  markers: 'markers',
  ages: 'ages',
  locks: 'locks',
  lockChanges: 'lock-changes',
  uploads: 'uploads',
  parts: 'parts',
  uploadUsage: 'upload-usage',
  payloads: 'payloads',
  payloadFiles: 'payload-files',
  digestsPending: 'digests-pending',
  digestQueue: 'digest-queue',
  bucketUsage: 'bucket-usage',
  volumeUsage: 'volume-usage',
  fileUsage: 'file-usage',
  restores: 'restores',
  ...merged(features.map(({ tables }) => tables)),
} as const

/** All tables, opened. */
export type Tables<T extends Table = Table> = { readonly [N in keyof typeof TABLES]: T }

export function openTables(environment: ProjectionEnvironment): Tables<StoredTable> {
  const opened = Object.entries(TABLES).map(([name, table]) => [name, environment.table(table)] as const)
  return Object.fromEntries(opened) as Tables<StoredTable>
}
