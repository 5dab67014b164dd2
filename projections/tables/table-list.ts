import type { ProjectionEnvironment, StoredTable, Table } from '../lmdb-environment.ts'

/** The name of every table, by the name that code uses for it; `projections check` compares each of them row by row. */
export const TABLES = {
  applied: 'applied',
  auditIndex: 'audit-index',
  eventIndex: 'event-index',
  eventsBegan: 'events-began',
  bucketNames: 'bucket-names',
  buckets: 'buckets',
  cors: 'cors',
  lifecycle: 'lifecycle',
  lifecycleRules: 'lifecycle-rules',
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
  scrub: 'scrub',
  checkpoints: 'checkpoints',
  checkpointMarks: 'checkpoint-marks',
  checkpointsUnpublished: 'checkpoints-unpublished',
  checkpointHandovers: 'checkpoint-handovers',
  receipts: 'receipts',
  witnessedLogs: 'witnessed-logs',
  restores: 'restores',
  accounts: 'accounts',
  credentials: 'credentials',
  policies: 'policies',
  tokens: 'tokens',
  tokenDigests: 'token-digests',
  accessVersion: 'access-version',
  webhooks: 'webhooks',
  webhookProgress: 'webhook-progress',
  webhookLog: 'webhook-log',
  shares: 'shares',
  shareDigests: 'share-digests',
  shareTargets: 'share-targets',
  embeds: 'embeds',
  embedDigests: 'embed-digests',
  embedTargets: 'embed-targets',
} as const

/** All tables, opened. */
export type Tables<T extends Table = Table> = { readonly [N in keyof typeof TABLES]: T }

export function openTables(environment: ProjectionEnvironment): Tables<StoredTable> {
  const opened = Object.entries(TABLES).map(([name, table]) => [name, environment.table(table)] as const)
  return Object.fromEntries(opened) as Tables<StoredTable>
}
