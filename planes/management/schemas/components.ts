import { DEFAULT_RETENTION_MAXIMUM } from '../../../engine/domain/lock.ts'
import { EVENT_TYPES, EXPIRY_DAYS, MANAGEMENT_ROLES } from '../../../engine/events/values.ts'
import { EVENT_RECORD, NAMED_EVENT_RECORD } from '../audit/audit-forms.ts'
import { invalid, managementErrors } from '../errors.ts'
import { STORAGE_EVENT, STREAM_DAMAGE, STREAM_LINE } from '../events/event-forms.ts'
import {
  anyOf,
  documented,
  eitherOf,
  FLAG,
  form,
  type Infer,
  listOf,
  mapOf,
  memberOf,
  object,
  oneOf,
  orNull,
  readAs,
  readMembers,
  SHA256,
  TIME,
  type Type,
  text,
  whole,
} from './schema.ts'

/** The named components of the OpenAPI document. */

const ROLE = oneOf(...MANAGEMENT_ROLES)
const ERROR_CODE = oneOf(...Object.keys(managementErrors))
const MODE = eitherOf(16, 'GOVERNANCE', 'COMPLIANCE')

const credential = {
  credential_id: form('cred-[a-z2-7]{20}'),
  access_key: form('[A-Za-z0-9._-]{3,128}'),
  enabled: FLAG,
  status: oneOf('enabled', 'disabled', 'expired'),
  temporary: FLAG,
  created_at: TIME,
  expires_at: orNull(TIME),
  // At most a minute before the last use; null where there was no use.
  last_used_at: orNull(TIME),
}

const token = {
  id: form('tok-[a-z2-7]{20}'),
  name: text(),
  role: ROLE,
  status: oneOf('active', 'expired'),
  created_at: TIME,
  expires_at: orNull(TIME),
  // At most a minute before the last use; null where there was no use.
  last_used_at: orNull(TIME),
}

const link = {
  bucket: text(),
  key: text(),
  // Null for a link that follows the current object of the key.
  version_id: orNull(text()),
  status: oneOf('active', 'revoked', 'expired', 'exhausted', 'target_deleted'),
  created_at: TIME,
  expires_at: orNull(TIME),
  revoked_at: orNull(TIME),
}

const share = {
  id: form('share-[a-z2-7]{20}'),
  ...link,
  file_name: orNull(text()),
  password_protected: FLAG,
  maximum_downloads: orNull(whole({ minimum: 1 })),
  // Null where they are not counted: without a maximum.
  downloads: orNull(whole()),
}

const embed = {
  id: form('embed-[a-z2-7]{20}'),
  ...link,
  allowed_origins: listOf(text()),
  cache_seconds: whole(),
}

const ORPHAN = object({ kind: oneOf('payload-file', 'volume'), name: text(), bytes: whole() })
const MISSING = object({
  kind: oneOf('payload-file', 'volume'),
  name: text(),
  reason: oneOf('missing', 'wrong length'),
  // No version id for a part of an upload in progress.
  objects: listOf(object({ bucket: text(), key: text(), version_id: orNull(text()) })),
})
const FOREIGN = object({ path: text(), reason: oneOf('foreign', 'misplaced'), bytes: whole() })

const storageFindings = {
  consistent: orNull(FLAG),
  examined: whole(),
  truncated: FLAG,
  next_after: orNull(text()),
  orphans: listOf(ORPHAN),
  missing: listOf(MISSING),
  foreign: listOf(FOREIGN),
}

const NO_LIMIT = object({ mode: oneOf('unlimited') })
const LIMIT_OF_BYTES = object({ mode: oneOf('limit'), bytes: whole() })
const LIMIT_OF_OBJECTS = object({ mode: oneOf('limit'), objects: whole() })

const QUOTA = object({ bytes: quotaLimit('bytes'), objects: quotaLimit('objects') })

/** A limit of a quota (specification, Quota); its number is in the member `bytes` or `objects`. */
function quotaLimit(name: 'bytes' | 'objects'): Type<number | undefined> {
  const mode = eitherOf(16, 'limit', 'unlimited')
  const limit = whole()
  const limited = name === 'bytes' ? LIMIT_OF_BYTES : LIMIT_OF_OBJECTS
  return readAs(anyOf(NO_LIMIT, limited), (value, field) => {
    const members = readMembers(value, field, ['mode', name])
    const [sentMode, sent] = [members['mode'], members[name]]
    if (sentMode === undefined) throw invalid(memberOf(field, 'mode'), 'is missing')
    if (mode.read(sentMode, memberOf(field, 'mode')) === 'unlimited') {
      if (sent === undefined) return undefined
      throw invalid(memberOf(field, name), 'is allowed only with the mode limit')
    }
    if (sent === undefined) throw invalid(memberOf(field, name), 'is missing')
    return limit.read(sent, memberOf(field, name))
  })
}

const UNIT = eitherOf(8, 'days', 'years')
const SENT_PERIOD = object({ unit: UNIT, value: documented({}) })
const DAYS = whole({ minimum: 1, maximum: DEFAULT_RETENTION_MAXIMUM.days })

/** OpenAPI states the bound for days only. The bound for years, which is lower, is checked here. */
const PERIOD = readAs(object({ unit: UNIT, value: DAYS }), (value, field) => {
  const { unit, value: sent } = SENT_PERIOD.read(value, field)
  const period = whole({ minimum: 1, maximum: DEFAULT_RETENTION_MAXIMUM[unit] })
  return { unit, value: period.read(sent, memberOf(field, 'value')) }
})

const DEFAULT_RETENTION = object({ mode: MODE, period: PERIOD })

export const COMPONENTS = {
  ErrorCode: ERROR_CODE,
  Error: object({ error: object({ code: ERROR_CODE, message: text(), request_id: text() }) }),
  Role: ROLE,

  Credential: object(credential),
  IssuedCredential: object({ ...credential, secret_key: form('[!-~]{16,256}') }),
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
  Webhook: object({
    id: form('wh-[a-z2-7]{20}'),
    target_url: text(),
    event_types: listOf(oneOf(...EVENT_TYPES)),
    bucket_filter: orNull(text()),
    object_prefix_filter: orNull(text()),
    enabled: FLAG,
    created_at: TIME,
    previous_secret_until: orNull(TIME),
    pending: whole(),
    replaying: FLAG,
  }),
  WebhookDelivery: object({
    webhook_id: form('wh-[a-z2-7]{20}'),
    event_id: text(),
    kind: oneOf('event', 'replay', 'test'),
    attempt: whole(),
    timestamp: TIME,
    success: FLAG,
    status: orNull(whole()),
    error: orNull(text()),
    next_attempt_at: orNull(TIME),
  }),
  SharingSettings: object({
    enabled: FLAG,
    maximum_lifetime_seconds: orNull(whole()),
    require_password: FLAG,
    public_share_url: text(),
    public_embed_url: text(),
  }),
  Share: object(share),
  CreatedShare: object({ ...share, url: text() }),
  Embed: object(embed),
  CreatedEmbed: object({ ...embed, url: text() }),
  CapabilityUrl: object({ url: text() }),
  ManagementToken: object(token),
  IssuedManagementToken: object({ ...token, token: form('osm_[A-Za-z0-9_-]{43}') }),

  QuotaUnlimited: NO_LIMIT,
  QuotaOfBytes: LIMIT_OF_BYTES,
  QuotaOfObjects: LIMIT_OF_OBJECTS,
  Quota: QUOTA,
  DefaultRetention: DEFAULT_RETENTION,
  Bucket: object({
    name: text(),
    region: text(),
    created_at: TIME,
    versioning: oneOf('off', 'enabled', 'suspended'),
    object_lock: FLAG,
    default_retention: orNull(reference('DefaultRetention', DEFAULT_RETENTION)),
    quota: reference('Quota', QUOTA),
    usage: object({
      objects: whole(),
      bytes: whole(),
      noncurrent_versions: whole(),
      noncurrent_bytes: whole(),
      delete_markers: whole(),
    }),
  }),

  LifecycleRule: object({
    id: text(),
    prefix: text(),
    enabled: FLAG,
    expiration: orNull(whole(EXPIRY_DAYS)),
    noncurrent_version_expiration: orNull(whole(EXPIRY_DAYS)),
  }),

  Lock: object({ mode: orNull(MODE), retain_until: orNull(TIME), legal_hold: FLAG }),
  ObjectVersion: object(
    {
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
      lock: reference('Lock', documented({})),
    },
    { tags: mapOf(text()) },
  ),
  /** The place of an object whose written version was removed already. */
  WrittenPlace: object({ bucket: text(), key: text() }),
  /** The written version; only its place if another request has already removed it. */
  WrittenObject: anyOf(reference('ObjectVersion', documented({})), reference('WrittenPlace', documented({}))),
  AuditEvent: NAMED_EVENT_RECORD,
  AuditRecord: EVENT_RECORD,
  StorageEvent: STORAGE_EVENT,
  StorageEventDamage: STREAM_DAMAGE,
  StorageEventLine: STREAM_LINE,
  OrphanFile: ORPHAN,
  MissingFile: MISSING,
  ForeignFile: FOREIGN,
  StorageFindings: object(storageFindings),
  StorageScrub: object({
    state: oneOf('running', 'complete'),
    started_at: TIME,
    completed_at: orNull(TIME),
    payloads: whole(),
    segments: whole(),
    bytes: whole(),
    damaged: whole(),
    damage: listOf(
      object({
        kind: oneOf('payload', 'segment'),
        number: whole(),
        reason: text(),
        found_at: TIME,
        objects: listOf(object({ bucket: orNull(text()), key: text(), version_id: orNull(text()) })),
      }),
    ),
  }),
  StorageRepair: object({ dry_run: FLAG, ...storageFindings, removed: listOf(text()) }),
} as const

function reference<T>(name: string, { read }: Type<T>): Type<T> {
  return { schema: { $ref: `#/components/schemas/${name}` }, read }
}

/** A reference to a component by its name. */
export function component<N extends keyof typeof COMPONENTS>(name: N): Type<Infer<(typeof COMPONENTS)[N]>> {
  const type: Type<unknown> = COMPONENTS[name]
  return reference(name, type) as Type<Infer<(typeof COMPONENTS)[N]>>
}
