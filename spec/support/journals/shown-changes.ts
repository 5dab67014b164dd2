/** Changes of every kind, as they are stored and as `journal show` shows them. */
import { partBits } from '../commands.ts'
import { SHOWN_CHECKPOINTS } from './shown-checkpoints.ts'
import { SHOWN_CHECKSUMS } from './shown-checksums.ts'
import { SHOWN_TAGS } from './shown-tags.ts'

const DIGEST = Buffer.alloc(32, 0xab)
const HEX = 'ab'.repeat(32)
const YEAR_9999 = Date.parse('9999-12-31T23:59:59.999Z')
const BUCKET = { bucket_id: 2, name: 'b' }
const KEY = { bucket_id: 2, key: 'k' }
const NOTHING = { headers: {}, user_metadata: {}, replaced: true }
const WRITTEN = { kind: 'object.written', bucket_id: 2, etag: 'etag', sha256: HEX, ...NOTHING }
const SUMMED = { version: null, lock: null, checksum: { algorithm: 'sha256', value: HEX } }
const LINK = { ...KEY, token_digest: HEX, sealed_token: HEX }
const EMBEDDED = { allowed_origins: ['https://a.example'], expires: null, cache_seconds: 60 }

const POLICY = { policy: 'p', title: 't', statements: [{ effect: 'deny', actions: ['s3:*'], resources: ['bucket:b'] }] }

/** Each change as it is stored, and as it is shown. */
export const SHOWN: readonly (readonly [stored: readonly unknown[], shown: Record<string, unknown>])[] = [
  [[1, 2, 'b', 'eu'], { kind: 'bucket.created', ...BUCKET, region: 'eu' }],
  [[2, 2, 'b'], { kind: 'bucket.deleted', ...BUCKET }],
  [
    [3, 2, 'a', 5, 'etag', DIGEST, ['content-type', 'text/plain'], ['__proto__', 'x'], [1, 2, 0, 64, 5, 77], false],
    {
      ...WRITTEN,
      key: 'a',
      size: 5,
      headers: { 'content-type': 'text/plain' },
      user_metadata: JSON.parse('{"__proto__":"x"}'),
      payload: { kind: 'volume', payload_id: 2, volume: 0, offset: 64, length: 5, crc32: 77 },
      replaced: false,
    },
  ],
  [
    [3, 2, 'b', 0, 'etag', DIGEST, [], ['a', '1', 'a', '2'], null, true],
    { ...WRITTEN, key: 'b', size: 0, user_metadata: ['a', '1', 'a', '2'], payload: null },
  ],
  [
    [3, 2, 'c', 9, 'etag', DIGEST, [], [], [2, 2, 'file-name', 9], true],
    { ...WRITTEN, key: 'c', size: 9, payload: { kind: 'file', payload_id: 2, file: 'file-name', length: 9 } },
  ],
  [
    [3, 2, 'd', 9, 'etag', DIGEST, [], [], [0, 2], true, null, null, [4, DIGEST]],
    { ...WRITTEN, key: 'd', size: 9, payload: { kind: 'shared', payload_id: 2 }, ...SUMMED },
  ],
  [
    [3, 2, 'n', 0, 'etag', DIGEST, [], [], null, true, null, null, null, [2, 'o', 7, true, false, 'token']],
    {
      ...WRITTEN,
      key: 'n',
      size: 0,
      payload: null,
      version: null,
      lock: null,
      checksum: null,
      source: { bucket_id: 2, key: 'o', version: 7, null: true, restores: false, client_token: 'token' },
    },
  ],
  [[4, 2, 'a'], { kind: 'object.deleted', bucket_id: 2, key: 'a' }],
  [[5, 0, 256, 16, DIGEST], { kind: 'journal.recovered', segment_number: 0, offset: 256, length: 16, sha256: HEX }],
  [[6, '1.0.0', '001122'], { kind: 'server.started', version: '1.0.0', start: '001122' }],
  [[7], { kind: 'server.stopped' }],
  [[99, 'later', DIGEST], { kind: 99, fields: ['later', HEX] }],
  [[1, 2, 'b', 'eu', true], { kind: 'bucket.created', ...BUCKET, region: 'eu', object_lock: true }],
  [
    [3, 2, 'k', 5, 'etag', DIGEST, [], [], [1, 9, 0, 64, 36, 77, true], true, [false, 0], [[1, YEAR_9999], true]],
    {
      ...WRITTEN,
      key: 'k',
      size: 5,
      payload: { kind: 'volume', payload_id: 9, volume: 0, offset: 64, length: 36, crc32: 77, sealed: true },
      version: { null: false, replaces_null: 0 },
      lock: { retention: { mode: 'COMPLIANCE', until: '9999-12-31T23:59:59.999Z' }, legal_hold: true },
    },
  ],
  [[8, 2, 'b', true], { kind: 'bucket.versioning-set', ...BUCKET, versioning: 'enabled' }],
  [[8, 2, 'b', false], { kind: 'bucket.versioning-set', ...BUCKET, versioning: 'suspended' }],
  [
    [9, 2, 'b', [0, true, 3]],
    { kind: 'bucket.retention-set', ...BUCKET, retention: { mode: 'GOVERNANCE', unit: 'years', value: 3 } },
  ],
  [[9, 2, 'b', null], { kind: 'bucket.retention-set', ...BUCKET, retention: null }],
  [
    [10, 2, 'b', [[null, ['https://a'], ['GET'], ['*'], ['etag'], 60]]],
    {
      kind: 'bucket.cors-set',
      ...BUCKET,
      rules: [
        {
          id: null,
          origins: ['https://a'],
          methods: ['GET'],
          headers: ['*'],
          exposed_headers: ['etag'],
          max_age_seconds: 60,
        },
      ],
    },
  ],
  [[11, 2, 'b', null, 7], { kind: 'bucket.quota-set', ...BUCKET, quota_bytes: null, quota_objects: 7 }],
  [[12, 2, 'k', [true, 40]], { kind: 'marker.written', ...KEY, version: { null: true, replaces_null: 40 } }],
  [[13, 2, 'k', 40, 39], { kind: 'version.deleted', ...KEY, version: 40, promotes: 39 }],
  [
    [14, 2, 'k', 40, [null, false]],
    { kind: 'version.locked', ...KEY, version: 40, lock: { retention: null, legal_hold: false } },
  ],
  [
    [15, 2, 'k', ['content-type', 'a/b'], ['m', 'n'], null],
    { kind: 'upload.created', ...KEY, headers: { 'content-type': 'a/b' }, user_metadata: { m: 'n' }, lock: null },
  ],
  [
    [16, 2, 'k', 50, 10_000, 5, 'e', DIGEST, [2, 51, 'name', 5, true], false],
    {
      kind: 'upload.part-written',
      ...KEY,
      upload: 50,
      part: 10_000,
      size: 5,
      md5: 'e',
      sha256: HEX,
      payload: { kind: 'file', payload_id: 51, file: 'name', length: 5, sealed: true },
      replaced: false,
    },
  ],
  ...SHOWN_CHECKSUMS,
  [
    [17, 2, 'k', 50, partBits([1, 2, 3, 5, 7, 8, 10_000]), partBits([])],
    { kind: 'upload.completed', ...KEY, upload: 50, listed: '1-3,5,7-8,10000', dropped: '' },
  ],
  [[18, 2, 'k', 50, partBits([15, 16])], { kind: 'upload.aborted', ...KEY, upload: 50, dropped: '15-16' }],
  [[19, 9, 1, 64], { kind: 'payload.moved', payload_id: 9, volume: 1, offset: 64 }],
  [
    [39, 12, 9, 5, [2, 11, 'name', 7], 7, DIGEST],
    {
      kind: 'payload.appended',
      payload_id: 12,
      base: 9,
      offset: 5,
      part: { kind: 'file', payload_id: 11, file: 'name', length: 7 },
      size: 7,
      sha256: HEX,
    },
  ],
  [[20, 9, DIGEST], { kind: 'payload.digested', payload_id: 9, sha256: HEX }],
  [[21], { kind: 'clock.observed' }],
  [[22, 1], { kind: 'volume.removed', volume: 1 }],
  [[23, 'a', 't', 'd'], { kind: 'account.created', account: 'a', title: 't', description: 'd' }],
  [[24, 'a', false], { kind: 'account.status-set', account: 'a', enabled: false }],
  [[25, 'a'], { kind: 'account.deleted', account: 'a' }],
  [
    [26, 'a', 'c', 'AK', DIGEST, 1_767_323_045_000_001],
    {
      kind: 'credential.issued',
      account: 'a',
      credential: 'c',
      access_key: 'AK',
      sealed_secret: HEX,
      expires: '2026-01-02T03:04:05.000001Z',
    },
  ],
  [[27, 'AK', true], { kind: 'credential.status-set', access_key: 'AK', enabled: true }],
  [[28, 'p', 't', [[true, ['s3:*'], ['bucket:b']]]], { kind: 'policy.created', ...POLICY }],
  [[29, 'p', 'a'], { kind: 'policy.attached', policy: 'p', account: 'a' }],
  [[30, 'p', 'a'], { kind: 'policy.detached', policy: 'p', account: 'a' }],
  [
    [31, 't', 'n', 2, DIGEST, null],
    { kind: 'token.issued', token: 't', title: 'n', role: 'auditor', sha256: HEX, expires: null },
  ],
  [[32, 't'], { kind: 'token.revoked', token: 't' }],
  [[33, 'AK'], { kind: 'credential.removed', access_key: 'AK' }],
  [
    [36, 9, DIGEST, 1_000_000, 2_000_000],
    {
      kind: 'journal.restored',
      last_sequence: 9,
      sha256: HEX,
      backed_up: '1970-01-01T00:00:01.000000Z',
      restored: '1970-01-01T00:00:02.000000Z',
    },
  ],
  [[35, DIGEST], { kind: 'access.authenticated', mac: HEX }],
  ...SHOWN_CHECKPOINTS,
  [[37, DIGEST, DIGEST, DIGEST], { kind: 'master-key.changed', check: HEX, sealed_key: HEX, after: HEX }],
  [
    [40, 'w', 'https://t/', [0, 7], 'b', null, true, DIGEST],
    {
      kind: 'webhook.created',
      webhook: 'w',
      target: 'https://t/',
      event_types: ['bucket.created', 'multipart.aborted'],
      bucket: 'b',
      prefix: null,
      enabled: true,
      sealed_secret: HEX,
    },
  ],
  [
    [40, 'w', 'https://t/', [0], null, null, true, DIGEST, DIGEST],
    {
      kind: 'webhook.created',
      webhook: 'w',
      target: 'https://t/',
      event_types: ['bucket.created'],
      bucket: null,
      prefix: null,
      enabled: true,
      sealed_secret: HEX,
      sealed_query: HEX,
    },
  ],
  [[41, 'w', false], { kind: 'webhook.status-set', webhook: 'w', enabled: false }],
  [[42, 'w'], { kind: 'webhook.deleted', webhook: 'w' }],
  [
    [43, 'w', DIGEST, 1_767_323_045_000_001],
    { kind: 'webhook.secret-rotated', webhook: 'w', sealed_secret: HEX, previous_until: '2026-01-02T03:04:05.000001Z' },
  ],
  [
    [44, 'w', 1_767_323_045_000_001, 1_767_323_045_000_001],
    {
      kind: 'webhook.replayed',
      webhook: 'w',
      since: '2026-01-02T03:04:05.000001Z',
      until: '2026-01-02T03:04:05.000001Z',
    },
  ],
  [
    [45, 'w', 0, [9, 0], [[8, 1]], [[[9, 0], 1, 1_767_323_045_000_001, 500, 'e', 1_767_323_045_000_001]], false],
    {
      kind: 'webhook.delivered',
      webhook: 'w',
      replay: 0,
      position: { sequence: 9, index: 0 },
      waiting: [{ sequence: 8, index: 1 }],
      attempts: [
        {
          event: { sequence: 9, index: 0 },
          attempt: 1,
          time: '2026-01-02T03:04:05.000001Z',
          status: 500,
          error: 'e',
          next: '2026-01-02T03:04:05.000001Z',
        },
      ],
      over: false,
    },
  ],
  [
    [48, 'w', 7, [[[9, 0], 1, 1_767_323_045_000_001, 200, null, null]]],
    {
      kind: 'webhook.attempted',
      webhook: 'w',
      replay: 7,
      attempts: [
        {
          event: { sequence: 9, index: 0 },
          attempt: 1,
          time: '2026-01-02T03:04:05.000001Z',
          status: 200,
          error: null,
          next: null,
        },
      ],
    },
  ],
  [
    [46, 'w', 'test-1', 1_767_323_045_000_001, null, 'e'],
    {
      kind: 'webhook.tested',
      webhook: 'w',
      event: 'test-1',
      time: '2026-01-02T03:04:05.000001Z',
      status: null,
      error: 'e',
    },
  ],
  [[50, 'p', 't', [[true, ['s3:*'], ['bucket:b']]]], { kind: 'policy.replaced', ...POLICY }],
  [[51, 'p'], { kind: 'policy.deleted', policy: 'p' }],
  [
    [60, 2, 'b', ['r', 'a/', true, 30, null]],
    {
      kind: 'lifecycle.rule-set',
      ...BUCKET,
      rule: { rule: 'r', prefix: 'a/', enabled: true, expiration: 30, noncurrent_version_expiration: null },
    },
  ],
  [[61, 2, 'b', 'r'], { kind: 'lifecycle.rule-removed', ...BUCKET, rule: 'r' }],
  [
    [62, 2, 'r', 1, [1_767_323_045_000_001, 40]],
    {
      kind: 'lifecycle.scanned',
      bucket_id: 2,
      rule: 'r',
      action: 'noncurrent-expiration',
      position: { time: '2026-01-02T03:04:05.000001Z', version: 40 },
    },
  ],
  [[63, 2, 'k', 40, null], { kind: 'lifecycle.version-held', ...KEY, version: 40, until: null }],
  [
    [70, 's', 2, 'k', [40, false], DIGEST, DIGEST, 'f', [DIGEST, DIGEST, 32_768, 8, 1], 1_767_323_045_000_001, 5],
    {
      kind: 'share.created',
      share: 's',
      ...LINK,
      version: { version: 40, null: false },
      file_name: 'f',
      password: { salt: HEX, hash: HEX, cost: 32_768, block_size: 8, parallelization: 1 },
      expires: '2026-01-02T03:04:05.000001Z',
      maximum_downloads: 5,
    },
  ],
  [[71, 's'], { kind: 'share.revoked', share: 's' }],
  [[72, 's'], { kind: 'share.deleted', share: 's' }],
  [[73, 's'], { kind: 'share.downloaded', share: 's' }],
  [
    [75, 'e', 2, 'k', null, DIGEST, DIGEST, ['https://a.example'], null, 60],
    { kind: 'embed.created', embed: 'e', ...LINK, version: null, ...EMBEDDED },
  ],
  [[76, 'e', ['https://a.example'], null, 60], { kind: 'embed.updated', embed: 'e', ...EMBEDDED }],
  [[77, 'e'], { kind: 'embed.revoked', embed: 'e' }],
  [[78, 'e'], { kind: 'embed.deleted', embed: 'e' }],
  [
    [80, [1_767_323_045_000_001, 1, 70, 60, 5, 4096, 1], [[0, 9, 'gone', [[2, 'k', [40, true]]]]]],
    {
      kind: 'scrub.advanced',
      progress: {
        started: '2026-01-02T03:04:05.000001Z',
        stage: 'segments',
        place: 70,
        payloads: 60,
        segments: 5,
        bytes: 4096,
        damaged: 1,
      },
      damage: [
        { kind: 'payload', number: 9, reason: 'gone', objects: [{ ...KEY, version: { version: 40, null: true } }] },
      ],
    },
  ],
  [
    [81, 1_767_323_045_000_001, 0, 'a'],
    { kind: 'clock.set-back', from: '2026-01-02T03:04:05.000001Z', to: '1970-01-01T00:00:00.000000Z', reason: 'a' },
  ],
  ...SHOWN_TAGS,
  [
    [13, 2, 'k', 40, 0, null, null, 39],
    { kind: 'version.deleted', ...KEY, version: 40, promotes: 0, removed: null, current: null, uncovers: 39 },
  ],
]
