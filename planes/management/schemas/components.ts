import { MANAGEMENT_ROLES } from '../../../engine/events/access-changes.ts'
import { managementErrors } from '../errors.ts'
import { FLAG, form, listOf, mapOf, object, oneOf, orNull, type Schema, SHA256, TIME, text, whole } from './schema.ts'

/** What has a name of its own in the OpenAPI document. */

const ROLE = oneOf(...MANAGEMENT_ROLES)
const MODE = oneOf('GOVERNANCE', 'COMPLIANCE')

const credential = {
  credential_id: form('cred-[a-z2-7]{20}'),
  access_key: form('OS[A-Z2-7]{18}'),
  enabled: FLAG,
  temporary: FLAG,
  created_at: TIME,
  expires_at: orNull(TIME),
}

const token = {
  id: form('tok-[a-z2-7]{20}'),
  name: text(),
  role: ROLE,
  created_at: TIME,
  expires_at: orNull(TIME),
}

const storageFindings = {
  consistent: FLAG,
  examined: whole(),
  truncated: FLAG,
  orphans: listOf(object({ kind: oneOf('payload-file', 'volume'), name: text(), bytes: whole() })),
  missing: listOf(
    object({ kind: oneOf('payload-file', 'volume'), name: text(), reason: oneOf('missing', 'wrong length') }),
  ),
}

export const COMPONENTS = {
  Error: object({
    error: object({ code: oneOf(...Object.keys(managementErrors)), message: text(), request_id: text() }),
  }),
  Role: ROLE,

  Credential: object(credential),
  IssuedCredential: object({ ...credential, secret_key: form('[a-z2-7]{40}') }),
  ServiceAccount: object({
    id: form('sa-[a-z2-7]{20}'),
    name: text(),
    description: text(),
    enabled: FLAG,
    created_at: TIME,
    credentials: listOf(object(credential)),
    policies: listOf(text()),
  }),
  Policy: object({
    id: form('pol-[a-z2-7]{20}'),
    name: text(),
    created_at: TIME,
    statements: listOf(object({ effect: oneOf('allow', 'deny'), actions: listOf(text()), resources: listOf(text()) })),
    accounts: listOf(text()),
  }),
  ManagementToken: object(token),
  IssuedManagementToken: object({ ...token, token: form('osm_[A-Za-z0-9_-]{43}') }),

  Quota: object({
    bytes: quotaLimit('bytes'),
    objects: quotaLimit('objects'),
  }),
  DefaultRetention: object({
    mode: MODE,
    period: object({ unit: oneOf('days', 'years'), value: whole({ minimum: 1, maximum: 36_500 }) }),
  }),
  Bucket: object({
    name: text(),
    region: text(),
    created_at: TIME,
    versioning: oneOf('off', 'enabled', 'suspended'),
    object_lock: FLAG,
    default_retention: orNull(reference('DefaultRetention')),
    quota: reference('Quota'),
    usage: object({
      objects: whole(),
      bytes: whole(),
      noncurrent_versions: whole(),
      noncurrent_bytes: whole(),
      delete_markers: whole(),
    }),
  }),

  Lock: object({ mode: orNull(MODE), retain_until: orNull(TIME), legal_hold: FLAG }),
  ObjectVersion: object({
    bucket: text(),
    key: text(),
    version_id: text(),
    is_latest: FLAG,
    size: whole(),
    etag: text(),
    sha256: orNull(SHA256),
    content_type: orNull(text()),
    created_at: TIME,
    headers: mapOf(text()),
    metadata: mapOf(text()),
    lock: reference('Lock'),
  }),
  StorageFindings: object(storageFindings),
  StorageRepair: object({ dry_run: FLAG, ...storageFindings, removed: listOf(text()) }),
} as const satisfies Readonly<Record<string, Schema>>

function quotaLimit(name: string): Schema {
  return { anyOf: [object({ mode: oneOf('unlimited') }), object({ mode: oneOf('limit'), [name]: whole() })] }
}

function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** The component of a name. */
export function component(name: keyof typeof COMPONENTS): Schema {
  return reference(name)
}
