/** Entries of the journal with arbitrary values, for properties of their codecs. */
import * as fc from 'fast-check'
import { AUDIT_RESULT, type AuditContext, type AuditResult } from '../../engine/events/audit.ts'
import type { Change, PayloadReference } from '../../engine/events/changes.ts'

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
  }),
  record({ kind: fc.constant('file' as const), payload: count, name: fc.string(), length: count }),
)

/** One arbitrary per change, so that a new change does not compile without one. */
export const CHANGES: { readonly [N in Change['name']]: fc.Arbitrary<Extract<Change, { name: N }>> } = {
  'bucket.created': record({
    name: fc.constant('bucket.created'),
    bucketId: count,
    bucket: fc.string(),
    region: fc.string(),
  }),
  'bucket.deleted': record({ name: fc.constant('bucket.deleted'), bucketId: count, bucket: fc.string() }),
  'object.written': record({
    name: fc.constant('object.written'),
    bucketId: count,
    key: fc.string({ unit: 'binary' }),
    size: count,
    etag: fc.string(),
    digest: bytes32,
    headers: pairs,
    metadata: pairs,
    payload,
    replaced: fc.boolean(),
  }),
  'object.deleted': record({
    name: fc.constant('object.deleted'),
    bucketId: count,
    key: fc.string({ unit: 'binary' }),
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
