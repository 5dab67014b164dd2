/** Entries of the journal with arbitrary values, for properties of their codecs. */
import * as fc from 'fast-check'
import { MANAGEMENT_ROLES, type PolicyStatement } from '../../engine/events/access-changes.ts'
import { AUDIT_RESULT, type AuditContext, type AuditResult } from '../../engine/events/audit.ts'
import {
  type Change,
  type CorsRule,
  type DefaultRetention,
  type LockState,
  type PayloadReference,
  RETENTION_MODES,
  type Retention,
  type VersionPlace,
} from '../../engine/events/changes.ts'

/** Records as the code makes them, with the ordinary prototype. */
function record<T extends object>(model: { readonly [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as unknown as fc.Arbitrary<T>
}

export const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
const pairs = fc
  .array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })))
  .map((list) => list.flat())
/** A payload, or none for an object of no bytes. */
export const payload: fc.Arbitrary<PayloadReference | undefined> = fc.oneof(
  fc.constant(undefined),
  record({ kind: fc.constant('shared' as const), payload: count }),
  record({
    kind: fc.constant('volume' as const),
    payload: count,
    volume: count,
    offset: count,
    length: count,
    checksum: fc.nat({ max: 2 ** 32 - 1 }),
    sealed: fc.boolean(),
  }),
  record({
    kind: fc.constant('file' as const),
    payload: count,
    name: fc.string(),
    length: count,
    sealed: fc.boolean(),
  }),
)

const key = fc.string({ unit: 'binary' })
/** What may be left out. */
function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined })
}
const mode = fc.constantFrom(...RETENTION_MODES)
const retention = record<Retention>({ mode, untilMilliseconds: count })
export const lock = record<LockState>({ retention: maybe(retention), hold: maybe(fc.boolean()) })
const place = record<VersionPlace>({ isNull: fc.boolean(), replacesNull: count })
const defaultRetention = record<DefaultRetention>({ mode, unit: fc.constantFrom('days', 'years'), value: count })
const texts = fc.array(fc.string())
const corsRule = record<CorsRule>({
  id: maybe(fc.string()),
  origins: texts,
  methods: texts,
  headers: texts,
  exposed: texts,
  maxAgeSeconds: maybe(count),
})
/** Part numbers as bits, at most; any bytes will do for a codec. */
const bytes = fc.uint8Array({ maxLength: 1251 }).map((all) => Buffer.from(all))
const statement = record<PolicyStatement>({
  effect: fc.constantFrom('allow', 'deny'),
  actions: texts,
  resources: fc.array(key),
})

/** One arbitrary per change, so that a new change does not compile without one. */
export const CHANGES: { readonly [N in Change['name']]: fc.Arbitrary<Extract<Change, { name: N }>> } = {
  'bucket.created': record({
    name: fc.constant('bucket.created'),
    bucketId: count,
    bucket: fc.string(),
    region: fc.string(),
    lockEnabled: fc.boolean(),
  }),
  'bucket.deleted': record({ name: fc.constant('bucket.deleted'), bucketId: count, bucket: fc.string() }),
  'object.written': record({
    name: fc.constant('object.written'),
    bucketId: count,
    key,
    size: count,
    etag: fc.string(),
    digest: bytes32,
    headers: pairs,
    metadata: pairs,
    payload,
    replaced: fc.boolean(),
    version: maybe(place),
    lock: maybe(lock),
  }),
  'object.deleted': record({
    name: fc.constant('object.deleted'),
    bucketId: count,
    key,
  }),
  'journal.recovered': record({
    name: fc.constant('journal.recovered'),
    segment: count,
    offset: count,
    length: count,
    digest: bytes32,
  }),
  'server.started': record({ name: fc.constant('server.started'), version: fc.string(), start: fc.string() }),
  'server.stopped': record({ name: fc.constant('server.stopped') }),
  'bucket.versioning-set': record({
    name: fc.constant('bucket.versioning-set'),
    bucketId: count,
    bucket: fc.string(),
    versioning: fc.constantFrom('enabled', 'suspended'),
  }),
  'bucket.retention-set': record({
    name: fc.constant('bucket.retention-set'),
    bucketId: count,
    bucket: fc.string(),
    retention: maybe(defaultRetention),
  }),
  'bucket.cors-set': record({
    name: fc.constant('bucket.cors-set'),
    bucketId: count,
    bucket: fc.string(),
    rules: fc.array(corsRule),
  }),
  'bucket.quota-set': record({
    name: fc.constant('bucket.quota-set'),
    bucketId: count,
    bucket: fc.string(),
    quota: record({ bytes: maybe(count), objects: maybe(count) }),
  }),
  'marker.written': record({ name: fc.constant('marker.written'), bucketId: count, key, version: place }),
  'version.deleted': record({
    name: fc.constant('version.deleted'),
    bucketId: count,
    key,
    version: count,
    promotes: count,
  }),
  'version.locked': record({ name: fc.constant('version.locked'), bucketId: count, key, version: count, lock }),
  'upload.created': record({
    name: fc.constant('upload.created'),
    bucketId: count,
    key,
    headers: pairs,
    metadata: pairs,
    lock: maybe(lock),
  }),
  'upload.part-written': record({
    name: fc.constant('upload.part-written'),
    bucketId: count,
    key,
    upload: count,
    part: fc.integer({ min: 1, max: 10_000 }),
    size: count,
    etag: fc.string(),
    digest: bytes32,
    payload,
    replaced: fc.boolean(),
  }),
  'upload.completed': record({
    name: fc.constant('upload.completed'),
    bucketId: count,
    key,
    upload: count,
    listed: bytes,
    dropped: bytes,
  }),
  'upload.aborted': record({
    name: fc.constant('upload.aborted'),
    bucketId: count,
    key,
    upload: count,
    dropped: bytes,
  }),
  'payload.moved': record({ name: fc.constant('payload.moved'), payload: count, volume: count, offset: count }),
  'payload.digested': record({ name: fc.constant('payload.digested'), payload: count, digest: bytes32 }),
  'clock.observed': record({ name: fc.constant('clock.observed') }),
  'volume.removed': record({ name: fc.constant('volume.removed'), volume: count }),
  'account.created': record({
    name: fc.constant('account.created'),
    account: fc.string(),
    title: fc.string({ unit: 'binary' }),
    description: fc.string({ unit: 'binary' }),
  }),
  'account.status-set': record({
    name: fc.constant('account.status-set'),
    account: fc.string(),
    enabled: fc.boolean(),
  }),
  'account.deleted': record({ name: fc.constant('account.deleted'), account: fc.string() }),
  'credential.issued': record({
    name: fc.constant('credential.issued'),
    account: fc.string(),
    credential: fc.string(),
    accessKey: fc.string(),
    sealedSecret: bytes,
    expiresMicroseconds: maybe(count),
  }),
  'credential.status-set': record({
    name: fc.constant('credential.status-set'),
    accessKey: fc.string(),
    enabled: fc.boolean(),
  }),
  'policy.created': record({
    name: fc.constant('policy.created'),
    policy: fc.string(),
    title: fc.string(),
    statements: fc.array(statement),
  }),
  'credential.removed': record({ name: fc.constant('credential.removed'), accessKey: fc.string() }),
  'policy.attached': record({ name: fc.constant('policy.attached'), policy: fc.string(), account: fc.string() }),
  'policy.detached': record({ name: fc.constant('policy.detached'), policy: fc.string(), account: fc.string() }),
  'token.issued': record({
    name: fc.constant('token.issued'),
    token: fc.string(),
    title: fc.string(),
    role: fc.constantFrom(...MANAGEMENT_ROLES),
    digest: bytes32,
    expiresMicroseconds: maybe(count),
  }),
  'token.revoked': record({ name: fc.constant('token.revoked'), token: fc.string() }),
}
export const change: fc.Arbitrary<Change> = fc.oneof(...Object.values(CHANGES))

export const context: fc.Arbitrary<AuditContext> = record({
  principal: fc.string(),
  credentialId: fc.option(fc.string(), { nil: undefined }),
  sourceAddress: fc.option(fc.string(), { nil: undefined }),
  requestId: fc.option(fc.string(), { nil: undefined }),
  operation: fc.string(),
  resource: fc.string({ unit: 'binary' }),
  metadata: fc.array(fc.tuple(fc.string(), fc.oneof(fc.string(), count))).map((list) => list.flat()),
})
export const result = fc.constantFrom(...(Object.keys(AUDIT_RESULT) as AuditResult[]))
