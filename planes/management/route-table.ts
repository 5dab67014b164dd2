import type { ManagementRole } from '../../engine/events/access-changes.ts'

/**
 * Every route of the management listener, one row each. A path that is not in this table does not exist. Where GET is
 * taken HEAD is too, and gets the same answer without its body. The router, the roles, the audit records, the OpenAPI
 * document and the pages read the same rows.
 */

export type ManagementMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

/** Who may use a route: `none` is open to everyone, `scrape-token` wants the token of `metrics.scrape_token`. */
export type RouteAuthentication = 'none' | 'scrape-token' | readonly ManagementRole[]

/** What a route takes as its body. `object`: the raw bytes of an object, streamed. */
export type RouteBody = 'none' | 'json' | 'object'

export interface ManagementRoute {
  readonly method: ManagementMethod
  /** With `{name}` for one segment; as the last segment `{key}` takes all that is left, slashes included. */
  readonly path: string
  readonly authentication: RouteAuthentication
  /** Whether it changes something, and so is audited twice: attempt and outcome. */
  readonly changes: boolean
  readonly body: RouteBody
  /** Names of the query parameters it takes; any other is refused. */
  readonly query: readonly string[]
  /** False for what the interface has and this version does not: it answers NOT_AVAILABLE. */
  readonly available: boolean
  readonly sentence: string
}

/** Path prefix of the versioned interface. */
export const API = '/api/v1'

const ADMINISTRATOR = ['system-administrator'] as const
const ADMINISTRATORS = ['system-administrator', 'storage-administrator'] as const
const SYSTEM_AND_AUDITOR = ['system-administrator', 'auditor'] as const
const EVERYONE = ['system-administrator', 'storage-administrator', 'auditor'] as const

type Extras = Partial<Pick<ManagementRoute, 'body' | 'query' | 'available' | 'changes'>>

/** `GET /buckets` spells method and path; a path of the versioned interface is written without its prefix. */
function row(
  pattern: `${ManagementMethod} /${string}`,
  authentication: RouteAuthentication,
  sentence: string,
  extras: Extras = {},
): ManagementRoute {
  const [method, path] = pattern.split(' ') as [ManagementMethod, string]
  const takesJson = method === 'POST' || method === 'PUT' || method === 'PATCH'
  return {
    method,
    path: PROBES.has(path) ? path : `${API}${path}`,
    authentication,
    changes: method !== 'GET',
    body: takesJson ? 'json' : 'none',
    query: [],
    available: true,
    sentence,
    ...extras,
  }
}

const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics'])
const LATER = { available: false } as const
const PAGE = ['prefix', 'delimiter', 'limit', 'after'] as const
const RANGE = ['from', 'to', 'format'] as const

export const routeTable: readonly ManagementRoute[] = [
  row('GET /health', 'none', 'Answers 200 while the process runs and accepts connections.'),
  row('GET /ready', 'none', 'Answers 200 when every checked part is ready, and 503 with the parts that are not.'),
  row('GET /metrics', 'scrape-token', 'The metrics in the text format of Prometheus.'),

  row('GET /openapi.json', EVERYONE, 'This interface as an OpenAPI 3.1 document.'),
  row('GET /system/info', EVERYONE, 'Name, version, status and capabilities.'),
  row('GET /system/metrics', EVERYONE, 'The values of /metrics as JSON.'),
  row('GET /system/metrics/history', EVERYONE, 'Readings of the counters over the last hour.'),
  row('GET /auth/session', EVERYONE, 'The role behind the credential of this request.'),

  row('GET /management-tokens', ADMINISTRATOR, 'The management tokens that were issued, without the tokens.'),
  row('POST /management-tokens', ADMINISTRATOR, 'Issues a management token for a role; it is shown once.'),
  row('DELETE /management-tokens/{id}', ADMINISTRATOR, 'Revokes a management token.'),

  row('GET /buckets', EVERYONE, 'All buckets.'),
  row('POST /buckets', ADMINISTRATORS, 'Creates a bucket.'),
  row('GET /buckets/{bucket}', EVERYONE, 'One bucket with its settings and usage.'),
  row('DELETE /buckets/{bucket}', ADMINISTRATORS, 'Deletes an empty bucket.'),
  row('GET /buckets/{bucket}/versioning', EVERYONE, 'The versioning state of a bucket.'),
  row('PUT /buckets/{bucket}/versioning', ADMINISTRATORS, 'Enables or suspends versioning.'),
  row('GET /buckets/{bucket}/quota', EVERYONE, 'The quota of a bucket and how much of it is used.'),
  row('PUT /buckets/{bucket}/quota', ADMINISTRATORS, 'Sets the quota of a bucket.'),
  row('GET /buckets/{bucket}/default-retention', EVERYONE, 'The default retention of a bucket with Object Lock.'),
  row('PUT /buckets/{bucket}/default-retention', ADMINISTRATORS, 'Sets or removes the default retention.'),

  row('GET /buckets/{bucket}/objects', EVERYONE, 'A page of the objects of a bucket.', { query: PAGE }),
  row('GET /buckets/{bucket}/object-versions', EVERYONE, 'A page of the versions and delete markers of a bucket.', {
    query: [...PAGE, 'after_version_id'],
  }),
  row('GET /buckets/{bucket}/object/{key}', EVERYONE, 'What is known of an object, its lock included.', {
    query: ['version_id'],
  }),
  row('PUT /buckets/{bucket}/object/{key}', ADMINISTRATORS, 'Uploads an object; the body is its bytes.', {
    body: 'object',
  }),
  row('DELETE /buckets/{bucket}/object/{key}', ADMINISTRATORS, 'Deletes an object, as S3 does without a version.'),
  row('GET /buckets/{bucket}/object-content/{key}', EVERYONE, 'The bytes of an object, as an attachment.', {
    query: ['version_id'],
  }),
  row('GET /buckets/{bucket}/object-preview/{key}', EVERYONE, 'The bytes of an object that a page may show.', {
    query: ['version_id'],
  }),
  row('DELETE /buckets/{bucket}/object-versions/{key}', ADMINISTRATORS, 'Deletes one version for ever.', {
    query: ['version_id'],
  }),
  row('POST /buckets/{bucket}/object-copy/{key}', ADMINISTRATORS, 'Copies an object to this key.'),
  row('POST /restore/{bucket}/{key}', ADMINISTRATORS, 'Makes an earlier version the current one, as a new version.'),
  row('GET /buckets/{bucket}/object-proof/{key}', EVERYONE, 'A signed proof bundle of one version.', {
    query: ['version_id'],
  }),

  row('GET /service-accounts', SYSTEM_AND_AUDITOR, 'All service accounts.'),
  row('POST /service-accounts', ADMINISTRATOR, 'Creates a service account with its first credential, shown once.'),
  row('GET /service-accounts/{id}', SYSTEM_AND_AUDITOR, 'One service account with its credentials and policies.'),
  row('DELETE /service-accounts/{id}', ADMINISTRATOR, 'Deletes a service account and its credentials for ever.'),
  row('PUT /service-accounts/{id}/status', ADMINISTRATOR, 'Enables or disables a service account.'),
  row('POST /service-accounts/{id}/credentials', ADMINISTRATOR, 'Issues a new credential beside the old ones.'),
  row('POST /service-accounts/{id}/temporary-credentials', ADMINISTRATOR, 'Issues a credential that expires.'),
  row('PUT /service-accounts/{id}/credentials/{credential_id}/status', ADMINISTRATOR, 'Enables or disables one.'),
  row('GET /policies', SYSTEM_AND_AUDITOR, 'All policies.'),
  row('POST /policies', ADMINISTRATOR, 'Creates a policy.'),
  row('GET /policies/{policy_id}', SYSTEM_AND_AUDITOR, 'One policy with the accounts it is attached to.'),
  row('PUT /policies/{policy_id}/bindings/{account_id}', ADMINISTRATOR, 'Attaches a policy to a service account.', {
    body: 'none',
  }),
  row('DELETE /policies/{policy_id}/bindings/{account_id}', ADMINISTRATOR, 'Detaches it.'),

  row('GET /audit/events', EVERYONE, 'A page of the audit records.', {
    query: [
      'since',
      'until',
      'principal',
      'operation',
      'resource',
      'result',
      'source_ip',
      'request_id',
      'limit',
      'after_time',
      'after_id',
    ],
  }),
  row('GET /audit/chain', EVERYONE, 'Recomputes the hash chain over a span.', { query: ['from', 'limit'] }),
  row('GET /audit/export', EVERYONE, 'The audit records of a range, streamed.', { query: RANGE }),
  row('GET /audit/export/manifest', EVERYONE, 'The manifest of an export of a range.', {
    query: [...RANGE, 'export_id'],
  }),
  row('GET /reports/retention', EVERYONE, 'Which versions are held, and until when.', { query: ['bucket', 'limit'] }),

  row('GET /storage/status', EVERYONE, 'Capacity, available and temporary bytes.'),
  row('GET /storage/usage', EVERYONE, 'How many buckets, objects and versions there are, and their bytes.'),
  row('GET /storage/inspect', EVERYONE, 'Looks for files and rows that do not belong together.', {
    query: ['maximum_entries'],
  }),
  row('POST /storage/repair', ADMINISTRATORS, 'Removes what belongs to nothing; a dry run unless told otherwise.'),
  row('POST /verify/objects/{bucket}/{key}', EVERYONE, 'Reads one object and holds it against its digest.', {
    changes: false,
    body: 'none',
    query: ['version_id'],
  }),
  row('POST /verify/buckets/{bucket}', EVERYONE, 'Reads every object of a bucket and holds it against its digest.', {
    changes: false,
    body: 'none',
    query: ['maximum_entries', 'after'],
  }),

  row('GET /buckets/{bucket}/lifecycle', EVERYONE, 'The lifecycle rules of a bucket.', LATER),
  row('POST /buckets/{bucket}/lifecycle', ADMINISTRATORS, 'Creates a lifecycle rule.', LATER),
  row('PUT /buckets/{bucket}/lifecycle/{rule_id}', ADMINISTRATORS, 'Replaces a lifecycle rule.', LATER),
  row('DELETE /lifecycle-rules/{id}', ADMINISTRATORS, 'Deletes a lifecycle rule.', LATER),
  row('GET /events', EVERYONE, 'Storage events.', LATER),
  row('GET /webhooks', EVERYONE, 'All webhooks.', LATER),
  row('POST /webhooks', ADMINISTRATORS, 'Creates a webhook.', LATER),
  row('PUT /webhooks/{id}/status', ADMINISTRATORS, 'Enables or disables a webhook.', LATER),
  row('DELETE /webhooks/{id}', ADMINISTRATORS, 'Deletes a webhook.', LATER),
  row('GET /webhook-deliveries', EVERYONE, 'The delivery log.', LATER),
  row('GET /sharing/settings', EVERYONE, 'The sharing policy of the deployment.', LATER),
  row('GET /buckets/{bucket}/object-shares/{key}', EVERYONE, 'The shares of an object.', LATER),
  row('POST /buckets/{bucket}/object-shares/{key}', ADMINISTRATORS, 'Shares an object.', LATER),
  row('GET /shares/{id}', EVERYONE, 'One share.', LATER),
  row('GET /shares/{id}/url', ADMINISTRATORS, 'The address of a share.', LATER),
  row('POST /shares/{id}/revoke', ADMINISTRATORS, 'Revokes a share.', LATER),
  row('DELETE /shares/{id}', ADMINISTRATORS, 'Deletes a share.', LATER),
  row('GET /buckets/{bucket}/object-embeds/{key}', EVERYONE, 'The embeds of an object.', LATER),
  row('POST /buckets/{bucket}/object-embeds/{key}', ADMINISTRATORS, 'Embeds an object.', LATER),
  row('GET /embeds/{id}', EVERYONE, 'One embed.', LATER),
  row('PATCH /embeds/{id}', ADMINISTRATORS, 'Changes an embed.', LATER),
  row('GET /embeds/{id}/url', ADMINISTRATORS, 'The address of an embed.', LATER),
  row('POST /embeds/{id}/revoke', ADMINISTRATORS, 'Revokes an embed.', LATER),
  row('DELETE /embeds/{id}', ADMINISTRATORS, 'Deletes an embed.', LATER),
]
