/** How `journal show` tells of every kind of change. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { changeNames, namedChange } from '../../cli/journal-show/change-fields.ts'
import { decodeBody } from '../../cli/journal-verify/bodies.ts'
import { PartSet } from '../../engine/domain/part-set.ts'
import { encodeChange } from '../../engine/events/change-codec.ts'
import { CHANGE_KIND } from '../../engine/events/changes.ts'
import { change } from '../support/arbitrary-entries.ts'
import { packBody } from '../support/journal-bytes.ts'
import { partBits } from '../support/commands.ts'

const DIGEST = Buffer.alloc(32, 0xab)
const HEX = 'ab'.repeat(32)
const YEAR_9999 = Date.parse('9999-12-31T23:59:59.999Z')

/** Each change as it is stored, and as it is shown. */
const SHOWN: readonly (readonly [stored: readonly unknown[], shown: Record<string, unknown>])[] = [
  [[1, 2, 'b', 'eu', true], { kind: 'bucket.created', bucket_id: 2, name: 'b', region: 'eu', object_lock: true }],
  [
    [3, 2, 'k', 5, 'e', DIGEST, [], [], [1, 9, 0, 64, 36, 77, true], true, [false, 0], [[1, YEAR_9999], true]],
    {
      kind: 'object.written',
      bucket_id: 2,
      key: 'k',
      size: 5,
      etag: 'e',
      sha256: HEX,
      headers: {},
      user_metadata: {},
      payload: { kind: 'volume', payload_id: 9, volume: 0, offset: 64, length: 36, crc32: 77, sealed: true },
      replaced: true,
      version: { null: false, replaces_null: 0 },
      lock: { retention: { mode: 'COMPLIANCE', until: '9999-12-31T23:59:59.999Z' }, legal_hold: true },
    },
  ],
  [[8, 2, 'b', true], { kind: 'bucket.versioning-set', bucket_id: 2, name: 'b', versioning: 'enabled' }],
  [[8, 2, 'b', false], { kind: 'bucket.versioning-set', bucket_id: 2, name: 'b', versioning: 'suspended' }],
  [
    [9, 2, 'b', [0, true, 3]],
    {
      kind: 'bucket.retention-set',
      bucket_id: 2,
      name: 'b',
      retention: { mode: 'GOVERNANCE', unit: 'years', value: 3 },
    },
  ],
  [[9, 2, 'b', null], { kind: 'bucket.retention-set', bucket_id: 2, name: 'b', retention: null }],
  [
    [10, 2, 'b', [[null, ['https://a'], ['GET'], ['*'], ['etag'], 60]]],
    {
      kind: 'bucket.cors-set',
      bucket_id: 2,
      name: 'b',
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
  [[11, 2, 'b', null, 7], { kind: 'bucket.quota-set', bucket_id: 2, name: 'b', quota_bytes: null, quota_objects: 7 }],
  [
    [12, 2, 'k', [true, 40]],
    { kind: 'marker.written', bucket_id: 2, key: 'k', version: { null: true, replaces_null: 40 } },
  ],
  [[13, 2, 'k', 40, 39], { kind: 'version.deleted', bucket_id: 2, key: 'k', version: 40, promotes: 39 }],
  [
    [14, 2, 'k', 40, [null, false]],
    { kind: 'version.locked', bucket_id: 2, key: 'k', version: 40, lock: { retention: null, legal_hold: false } },
  ],
  [
    [15, 2, 'k', ['content-type', 'a/b'], ['m', 'n'], null],
    {
      kind: 'upload.created',
      bucket_id: 2,
      key: 'k',
      headers: { 'content-type': 'a/b' },
      user_metadata: { m: 'n' },
      lock: null,
    },
  ],
  [
    [16, 2, 'k', 50, 10_000, 5, 'e', DIGEST, [2, 51, 'name', 5, true], false],
    {
      kind: 'upload.part-written',
      bucket_id: 2,
      key: 'k',
      upload: 50,
      part: 10_000,
      size: 5,
      md5: 'e',
      sha256: HEX,
      payload: { kind: 'file', payload_id: 51, file: 'name', length: 5, sealed: true },
      replaced: false,
    },
  ],
  [
    [17, 2, 'k', 50, partBits([1, 2, 3, 5, 7, 8, 10_000]), partBits([])],
    { kind: 'upload.completed', bucket_id: 2, key: 'k', upload: 50, listed: '1-3,5,7-8,10000', dropped: '' },
  ],
  [
    [18, 2, 'k', 50, partBits([15, 16])],
    { kind: 'upload.aborted', bucket_id: 2, key: 'k', upload: 50, dropped: '15-16' },
  ],
  [[19, 9, 1, 64], { kind: 'payload.moved', payload_id: 9, volume: 1, offset: 64 }],
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
  [
    [28, 'p', 't', [[true, ['s3:*'], ['bucket:b']]]],
    {
      kind: 'policy.created',
      policy: 'p',
      title: 't',
      statements: [{ effect: 'deny', actions: ['s3:*'], resources: ['bucket:b'] }],
    },
  ],
  [[29, 'p', 'a'], { kind: 'policy.attached', policy: 'p', account: 'a' }],
  [[30, 'p', 'a'], { kind: 'policy.detached', policy: 'p', account: 'a' }],
  [
    [31, 't', 'n', 2, DIGEST, null],
    { kind: 'token.issued', token: 't', title: 'n', role: 'auditor', sha256: HEX, expires: null },
  ],
  [[32, 't'], { kind: 'token.revoked', token: 't' }],
  [[33, 'AK'], { kind: 'credential.removed', access_key: 'AK' }],
]

test('every kind of change is shown with names', async (t) => {
  for (const [stored, shown] of SHOWN) {
    t.same(namedChange(decodeBody(packBody([stored]))?.[0]), shown, `${String(shown['kind'])} ${stored.length}`)
  }
  const later = new Set(SHOWN.map(([[kind]]) => kind))
  const missing = Object.values(CHANGE_KIND).filter((kind) => kind > 7 && !later.has(kind))
  t.same(missing, [], 'none is left out of this table')
  t.same(new Map([...changeNames].map(([kind, name]) => [name, kind])), new Map(Object.entries(CHANGE_KIND)))
})

test('what the store writes has a name for every field', async (t) => {
  fc.assert(
    fc.property(change, (one) => {
      const shown = namedChange(decodeBody(packBody([encodeChange(one)]))?.[0])
      const text = JSON.stringify(shown)
      if ((shown as { kind?: unknown }).kind !== one.name || 'fields' in (shown as object)) throw new Error(text)
    }),
    { numRuns: 500 },
  )
  t.pass()
})

test('what has another form than the page says is shown as it is, and never ends the command', async (t) => {
  t.same(namedChange([8, 2, 'b', 'x', 4]), {
    kind: 'bucket.versioning-set',
    bucket_id: 2,
    name: 'b',
    versioning: 'x',
    fields: [4],
  })
  t.same(namedChange([14, 2, 'k', 1, [[7, 'later'], 3, 4]]), {
    kind: 'version.locked',
    bucket_id: 2,
    key: 'k',
    version: 1,
    lock: { retention: { mode: 7, until: 'later' }, legal_hold: 3, fields: [4] },
  })
  t.same(namedChange([18, 2, 'k']), { kind: 'upload.aborted', bucket_id: 2, key: 'k' }, 'fields that are not there')
  const kinds = fc.integer({ min: 0, max: 40 })
  fc.assert(
    fc.property(kinds, fc.array(fc.anything({ withBigInt: false, withNullPrototype: true })), (kind, values) => {
      let body: Uint8Array
      try {
        body = packBody([[kind, ...values]])
      } catch {
        return
      }
      JSON.stringify(namedChange(decodeBody(body)?.[0]))
    }),
  )
})

test('part sets are shown as ranges of exactly their numbers', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 300 })), (numbers) => {
      const set = new PartSet()
      for (const number of numbers) set.add(number)
      const { dropped } = namedChange([18, 2, 'k', 1, set.bytes]) as { dropped: string }
      const told = dropped.split(',').flatMap((range) => {
        const [first, last] = range.split('-').map(Number)
        return range === ''
          ? []
          : Array.from({ length: (last ?? first ?? 0) - (first ?? 0) + 1 }, (_, at) => (first ?? 0) + at)
      })
      t.same(
        told,
        numbers.toSorted((left, right) => left - right),
      )
    }),
    { numRuns: 50 },
  )
})
