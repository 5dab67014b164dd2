import type { ProjectionEnvironment, Table } from './lmdb-environment.ts'
import { ACCESS_VERSION, ACCOUNTS, CREDENTIALS, POLICIES, TOKEN_DIGESTS, TOKENS } from './tables/access.ts'
import { APPLIED } from './tables/applied.ts'
import { AUDIT_INDEX } from './tables/audit-index.ts'
import { BUCKETS } from './tables/buckets.ts'
import { CORS } from './tables/cors.ts'
import { LOCKS } from './tables/locks.ts'
import { OBJECTS } from './tables/objects.ts'
import { DIGESTS_PENDING, PAYLOAD_FILES, PAYLOADS } from './tables/payloads.ts'
import { PARTS, UPLOAD_USAGE, UPLOADS } from './tables/uploads.ts'
import { BUCKET_USAGE, FILE_USAGE, VOLUME_USAGE } from './tables/usage.ts'
import { NULL_VERSIONS, VERSIONS } from './tables/versions.ts'

/** Every table there is, by the name that code uses for it; `projections check` compares each of them row by row. */
const NAMES = {
  applied: APPLIED,
  auditIndex: AUDIT_INDEX,
  buckets: BUCKETS,
  cors: CORS,
  objects: OBJECTS,
  versions: VERSIONS,
  nullVersions: NULL_VERSIONS,
  locks: LOCKS,
  uploads: UPLOADS,
  parts: PARTS,
  uploadUsage: UPLOAD_USAGE,
  payloads: PAYLOADS,
  payloadFiles: PAYLOAD_FILES,
  digestsPending: DIGESTS_PENDING,
  bucketUsage: BUCKET_USAGE,
  volumeUsage: VOLUME_USAGE,
  fileUsage: FILE_USAGE,
  accounts: ACCOUNTS,
  credentials: CREDENTIALS,
  policies: POLICIES,
  tokens: TOKENS,
  tokenDigests: TOKEN_DIGESTS,
  accessVersion: ACCESS_VERSION,
} as const

export const TABLE_NAMES: readonly string[] = Object.values(NAMES)

/** All tables, opened. */
export type Tables = { readonly [N in keyof typeof NAMES]: Table }

export function openTables(environment: ProjectionEnvironment): Tables {
  const opened = Object.entries(NAMES).map(([name, table]) => [name, environment.table(table)] as const)
  return Object.fromEntries(opened) as unknown as Tables
}
