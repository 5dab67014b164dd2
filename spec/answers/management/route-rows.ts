/** Every route of the management plane as a request, with a body that is good where it takes one. */

/** `{bucket}`, `{key}`, `{account}`, `{credential}`, `{policy}`, `{token}` stand for what the block has made. */
export interface RouteRow {
  readonly method: string
  readonly path: string
  readonly body?: string
}

const row = (method: string, path: string, body?: string): RouteRow =>
  body === undefined ? { method, path } : { method, path, body }

const STATEMENTS = '[{"effect":"allow","actions":["s3:GetObject"],"resources":["bucket:x/*"]}]'

/** Those that leave everything as it is come first, those that take something away last. */
export const ROUTE_ROWS: readonly RouteRow[] = [
  row('GET', '/health'),
  row('GET', '/ready'),
  row('GET', '/metrics'),
  row('GET', '/openapi.json'),
  row('GET', '/system/info'),
  row('GET', '/system/metrics'),
  row('GET', '/system/metrics/history'),
  row('GET', '/auth/session'),
  row('GET', '/management-tokens'),
  row('GET', '/buckets'),
  row('GET', '/buckets/{bucket}'),
  row('GET', '/buckets/{bucket}/versioning'),
  row('GET', '/buckets/{bucket}/quota'),
  row('GET', '/buckets/{bucket}/default-retention'),
  row('GET', '/buckets/{bucket}/cors'),
  row('GET', '/buckets/{bucket}/objects'),
  row('GET', '/buckets/{bucket}/object-versions'),
  row('GET', '/buckets/{bucket}/object/{key}'),
  row('GET', '/buckets/{bucket}/object-content/{key}'),
  row('GET', '/buckets/{bucket}/object-preview/{key}'),
  row('POST', '/buckets/{bucket}/object-download/{key}'),
  row('GET', '/buckets/{bucket}/object-proof/{key}'),
  row('GET', '/service-accounts'),
  row('GET', '/service-accounts/{account}'),
  row('GET', '/policies'),
  row('GET', '/policies/{policy}'),
  row('GET', '/audit/chain?limit=1'),
  row('GET', '/audit/export/manifest?from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z'),
  row('GET', '/audit/export?from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z'),
  row('GET', '/audit/events?until=2000-01-01T00:00:00Z'),
  row('GET', '/transparency/checkpoint'),
  row('GET', '/transparency/checkpoints'),
  row('GET', '/transparency/key'),
  row('GET', '/transparency/key/handovers'),
  row('POST', '/transparency/key/rotate'),
  row('GET', '/transparency/receipts'),
  row('POST', '/transparency/receipts', '{}'),
  row('POST', '/transparency/witness/add-checkpoint', 'old 0\n'),
  row('GET', '/transparency/witness/key'),
  row('GET', '/transparency/witness/logs'),
  row('GET', '/transparency/proof/inclusion?sequence=1'),
  row('GET', '/transparency/proof/consistency?old=1'),
  row('GET', '/transparency/tile/0/000'),
  row('GET', '/reports/retention?bucket={bucket}'),
  row('GET', '/storage/status'),
  row('GET', '/storage/usage'),
  row('GET', '/storage/inspect'),
  row('POST', '/storage/repair', '{}'),
  row('POST', '/storage/scrub'),
  row('POST', '/verify/objects/{bucket}/{key}'),
  row('POST', '/verify/buckets/{bucket}'),
  row('GET', '/buckets/{bucket}/lifecycle'),
  row('POST', '/buckets/{bucket}/lifecycle', '{}'),
  row('PUT', '/buckets/{bucket}/lifecycle/rule', '{}'),
  row('DELETE', '/lifecycle-rules/rule'),
  row('GET', '/events'),
  row('GET', '/webhooks'),
  row('POST', '/webhooks', '{}'),
  row('PUT', '/webhooks/hook/status', '{}'),
  row('DELETE', '/webhooks/hook'),
  row('GET', '/webhook-deliveries'),
  row('GET', '/sharing/settings'),
  row('GET', '/buckets/{bucket}/object-shares/{key}'),
  row('POST', '/buckets/{bucket}/object-shares/{key}', '{}'),
  row('GET', '/shares/share'),
  row('GET', '/shares/share/url'),
  row('POST', '/shares/share/revoke', '{}'),
  row('DELETE', '/shares/share'),
  row('GET', '/buckets/{bucket}/object-embeds/{key}'),
  row('POST', '/buckets/{bucket}/object-embeds/{key}', '{}'),
  row('GET', '/embeds/embed'),
  row('PATCH', '/embeds/embed', '{}'),
  row('GET', '/embeds/embed/url'),
  row('POST', '/embeds/embed/revoke', '{}'),
  row('DELETE', '/embeds/embed'),
  row('POST', '/buckets', '{"name":"{bucket}-made"}'),
  row('PUT', '/buckets/{bucket}/versioning', '{"status":"Enabled"}'),
  row('PUT', '/buckets/{bucket}/quota', '{"quota":{"bytes":{"mode":"unlimited"},"objects":{"mode":"unlimited"}}}'),
  row('PUT', '/buckets/{bucket}/default-retention', '{"default_retention":null}'),
  row('PUT', '/buckets/{bucket}/object/put', 'bytes'),
  row('POST', '/buckets/{bucket}/object-copy/copy', '{"source_bucket":"{bucket}","source_key":"{key}"}'),
  row('POST', '/restore/{bucket}/{key}', '{"version_id":"null"}'),
  row('DELETE', '/buckets/{bucket}/object-versions/put?version_id=null'),
  row('DELETE', '/buckets/{bucket}/object/put'),
  row('POST', '/management-tokens', '{"name":"made","role":"auditor"}'),
  row('POST', '/service-accounts', '{"name":"made"}'),
  row('PUT', '/service-accounts/{account}/status', '{"enabled":true}'),
  row('POST', '/service-accounts/{account}/credentials', '{}'),
  row('POST', '/service-accounts/{account}/temporary-credentials', '{"expires_in_seconds":60}'),
  row('PUT', '/service-accounts/{account}/credentials/{credential}/status', '{"enabled":true}'),
  row('POST', '/policies', `{"name":"made","statements":${STATEMENTS}}`),
  row('PUT', '/policies/{policy}', `{"name":"made","statements":${STATEMENTS}}`),
  row('PUT', '/policies/{policy}/bindings/{account}'),
  row('DELETE', '/policies/{policy}/bindings/{account}'),
  row('DELETE', '/policies/{policy}'),
  row('DELETE', '/service-accounts/{account}'),
  row('DELETE', '/management-tokens/{token}'),
  row('DELETE', '/buckets/{bucket}'),
]

/** Routes that take a whole object of JSON or none. */
export const JSON_ROWS: readonly RouteRow[] = ROUTE_ROWS.filter(
  ({ method, path, body }) => body !== undefined && method !== 'GET' && !path.includes('/object/'),
)

/** Answers whose numbers no two runs have in common. */
export function hasAnyNumbers(path: string): boolean {
  return /metrics|storage\/(?:status|usage|inspect|repair|scrub)/.test(path)
}
