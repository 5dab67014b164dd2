/** The changes of an entry with the names that `spec/formats/journal.md` gives their fields. */
import { EVENT_TYPES } from '../../../../engine/events/values.ts'
import {
  type Field,
  listOf,
  microseconds,
  milliseconds,
  named,
  namedPairs,
  namedPayload,
  partRanges,
  type Printable,
  printable,
  tuple,
  wordOf,
} from './change-values.ts'

const mode = wordOf('GOVERNANCE', 'COMPLIANCE')
const retention = tuple(['mode', mode], ['until', milliseconds])
const lock: Field = ['lock', tuple(['retention', retention], 'legal_hold')]
const algorithm = wordOf('crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256')
const checksum: Field = ['checksum', tuple(['algorithm', algorithm], 'value', 'composite')]
const askedChecksum: Field = ['checksum', tuple(['algorithm', algorithm], 'composite')]
const place: Field = ['version', tuple('null', 'replaces_null')]
const source: Field = ['source', tuple('bucket_id', 'key', 'version', 'null', 'restores', 'client_token')]
const removed: Field = ['removed', tuple('null', 'marker', 'size')]
const current: Field = ['current', tuple('null', 'size', 'etag', 'content_type')]
const defaultRetention: Field = ['retention', tuple(['mode', mode], ['unit', wordOf('days', 'years')], 'value')]
const corsRule = tuple('id', 'origins', 'methods', 'headers', 'exposed_headers', 'max_age_seconds')
const statement = tuple(['effect', wordOf('allow', 'deny')], 'actions', 'resources')
const lifecycleRule = tuple('rule', 'prefix', 'enabled', 'expiration', 'noncurrent_version_expiration')
const lifecycleAction = wordOf('expiration', 'noncurrent-expiration')
const age = tuple(['time', microseconds], 'version')
const headers: readonly Field[] = [
  ['headers', namedPairs],
  ['user_metadata', namedPairs],
]
const payload: readonly Field[] = [['payload', namedPayload], 'replaced']
const bucket = ['bucket_id', 'name'] as const
const object = ['bucket_id', 'key'] as const
const expires: Field = ['expires', microseconds]
const eventType = wordOf(...EVENT_TYPES)
const event = tuple('sequence', 'index')
const pinned: Field = ['version', tuple('version', 'null')]
const link: readonly Field[] = [...object, pinned, 'token_digest', 'sealed_token']
const password: Field = ['password', tuple('salt', 'hash', 'cost', 'block_size', 'parallelization')]
const attempt = tuple(['event', event], 'attempt', ['time', microseconds], 'status', 'error', ['next', microseconds])
const scrubProgress = tuple(
  ['started', microseconds],
  ['stage', wordOf('payloads', 'segments', 'over')],
  'place',
  'payloads',
  'segments',
  'bytes',
  'damaged',
)
const damagedObject = tuple('bucket_id', 'key', pinned)
const scrubDamage = tuple(['kind', wordOf('payload', 'segment')], 'number', 'reason', [
  'objects',
  listOf(damagedObject),
])

/** Kinds of change: name, then the fields after the kind, with a reader where they have a form of their own. */
const changeTable: Readonly<Record<number, readonly [name: string, ...fields: Field[]]>> = {
  1: ['bucket.created', ...bucket, 'region', 'object_lock'],
  2: ['bucket.deleted', ...bucket],
  3: ['object.written', ...object, 'size', 'etag', 'sha256', ...headers, ...payload, place, lock, checksum, source],
  4: ['object.deleted', ...object, 'size'],
  5: ['journal.recovered', 'segment_number', 'offset', 'length', 'sha256', 'refused'],
  6: ['server.started', 'version', 'start', 'events'],
  7: ['server.stopped'],
  8: ['bucket.versioning-set', ...bucket, ['versioning', wordOf('suspended', 'enabled')]],
  9: ['bucket.retention-set', ...bucket, defaultRetention],
  10: ['bucket.cors-set', ...bucket, ['rules', listOf(corsRule)]],
  11: ['bucket.quota-set', ...bucket, 'quota_bytes', 'quota_objects'],
  12: ['marker.written', ...object, place],
  13: ['version.deleted', ...object, 'version', 'promotes', removed, current, 'uncovers'],
  14: ['version.locked', ...object, 'version', lock],
  15: ['upload.created', ...object, ...headers, lock, ['default', retention], askedChecksum],
  16: ['upload.part-written', ...object, 'upload', 'part', 'size', 'md5', 'sha256', ...payload, 'checksum'],
  17: ['upload.completed', ...object, 'upload', ['listed', partRanges], ['dropped', partRanges]],
  18: ['upload.aborted', ...object, 'upload', ['dropped', partRanges], 'bytes'],
  19: ['payload.moved', 'payload_id', 'volume', 'offset'],
  20: ['payload.digested', 'payload_id', 'sha256'],
  21: ['clock.observed'],
  22: ['volume.removed', 'volume'],
  23: ['account.created', 'account', 'title', 'description'],
  24: ['account.status-set', 'account', 'enabled'],
  25: ['account.deleted', 'account'],
  26: ['credential.issued', 'account', 'credential', 'access_key', 'sealed_secret', expires],
  27: ['credential.status-set', 'access_key', 'enabled'],
  28: ['policy.created', 'policy', 'title', ['statements', listOf(statement)]],
  29: ['policy.attached', 'policy', 'account'],
  30: ['policy.detached', 'policy', 'account'],
  31: [
    'token.issued',
    'token',
    'title',
    ['role', wordOf('system-administrator', 'storage-administrator', 'auditor')],
    'sha256',
    expires,
  ],
  32: ['token.revoked', 'token'],
  33: ['credential.removed', 'access_key'],
  35: ['access.authenticated', 'mac'],
  37: ['master-key.changed', 'check', 'sealed_key', 'after'],
  36: ['journal.restored', 'last_sequence', 'sha256', ['backed_up', microseconds], ['restored', microseconds]],
  39: ['payload.appended', 'payload_id', 'base', 'offset', ['part', namedPayload], 'size', 'sha256'],
  40: [
    'webhook.created',
    'webhook',
    'target',
    ['event_types', listOf(eventType)],
    'bucket',
    'prefix',
    'enabled',
    'sealed_secret',
    'sealed_query',
  ],
  41: ['webhook.status-set', 'webhook', 'enabled'],
  42: ['webhook.deleted', 'webhook'],
  43: ['webhook.secret-rotated', 'webhook', 'sealed_secret', ['previous_until', microseconds]],
  44: ['webhook.replayed', 'webhook', ['since', microseconds], ['until', microseconds]],
  45: [
    'webhook.delivered',
    'webhook',
    'replay',
    ['position', event],
    ['waiting', listOf(event)],
    ['attempts', listOf(attempt)],
    'over',
  ],
  46: ['webhook.tested', 'webhook', 'event', ['time', microseconds], 'status', 'error'],
  48: ['webhook.attempted', 'webhook', 'replay', ['attempts', listOf(attempt)]],
  47: ['checkpoint.signed', 'size', 'root', 'bundle_root', 'previous', 'origin', 'public_key', 'signature'],
  52: [
    'checkpoint.receipt',
    'size',
    ['receipt_kind', wordOf('rfc3161', 'cosignature', 'lock')],
    'giver',
    'receipt',
    ['asserted', microseconds],
  ],
  53: ['checkpoint.withheld', 'size'],
  54: ['checkpoint.published', 'size'],
  55: ['checkpoint.cosigned', 'origin', 'size', 'root', 'public_key', 'seconds'],
  56: [
    'checkpoint.key-rotated',
    'origin',
    'generation',
    'old_key',
    'new_key',
    'size',
    'root',
    'old_signature',
    'new_signature',
  ],
  50: ['policy.replaced', 'policy', 'title', ['statements', listOf(statement)]],
  51: ['policy.deleted', 'policy'],
  60: ['lifecycle.rule-set', ...bucket, ['rule', lifecycleRule]],
  61: ['lifecycle.rule-removed', ...bucket, 'rule'],
  62: ['lifecycle.scanned', 'bucket_id', 'rule', ['action', lifecycleAction], ['position', age]],
  63: ['lifecycle.version-held', ...object, 'version', ['until', microseconds]],
  70: ['share.created', 'share', ...link, 'file_name', password, expires, 'maximum_downloads'],
  71: ['share.revoked', 'share'],
  72: ['share.deleted', 'share'],
  73: ['share.downloaded', 'share'],
  75: ['embed.created', 'embed', ...link, 'allowed_origins', expires, 'cache_seconds'],
  76: ['embed.updated', 'embed', 'allowed_origins', expires, 'cache_seconds'],
  77: ['embed.revoked', 'embed'],
  78: ['embed.deleted', 'embed'],
  80: ['scrub.advanced', ['progress', scrubProgress], ['damage', listOf(scrubDamage)]],
  81: ['clock.set-back', ['from', microseconds], ['to', microseconds], 'reason'],
  82: ['version.tagged', ...object, 'version', 'null', 'size', ['tags', namedPairs]],
  83: ['upload.tagged', ...object, 'upload', ['tags', namedPairs]],
  84: ['bucket.tagged', ...bucket, ['tags', namedPairs]],
  85: ['bucket-policy.set', ...bucket, 'document', 'accounts'],
}

/** Every known kind of change, for comparison with the page. */
export const changeNames: ReadonlyMap<number, string> = new Map(
  Object.entries(changeTable).map(([kind, [name]]) => [Number(kind), name]),
)

/** A change with named fields. Unknown kinds and surplus fields are shown without names. */
export function namedChange(change: unknown): Printable {
  const [kind, ...values] = Array.isArray(change) ? change : [change]
  const row = typeof kind === 'number' ? changeTable[kind] : undefined
  if (row === undefined) return { kind: printable(kind), fields: values.map(printable) }
  const [name, ...fields] = row
  return { kind: name, ...named(fields, values) }
}
