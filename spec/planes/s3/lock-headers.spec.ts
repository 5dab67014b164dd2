import { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { bypassRequested, lockHeaders, requestedLock } from '../../../planes/s3/lock-headers.ts'
import { detail, refusal, wireRequest } from './wire-request.ts'

const NOW = Date.UTC(2026, 0, 31, 12)
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const MODE = 'x-amz-object-lock-mode'
const DATE = 'x-amz-object-lock-retain-until-date'
const HOLD = 'x-amz-object-lock-legal-hold'

function requested(headers: readonly HeaderLine[], query = '') {
  const { request, target } = wireRequest('PUT', `/b/k${query}`, headers)
  return requestedLock(request, target, NOW)
}

test('the lock that a write asks for', async (t) => {
  const date = '2030-01-01T00:00:00Z'
  const kept = { mode: 'GOVERNANCE', untilMilliseconds: Date.UTC(2030, 0) }
  t.equal(requested([]), undefined)
  t.same(
    requested([
      [MODE, 'GOVERNANCE'],
      [DATE, date],
    ]),
    { retention: kept, hold: undefined },
  )
  t.same(requested([[HOLD, 'ON']]), { retention: undefined, hold: true })
  t.same(requested([[HOLD, 'OFF']]), { retention: undefined, hold: false })
  t.same(
    requested([[HOLD, 'ON']], `?X-Amz-Object-Lock-Mode=GOVERNANCE&${DATE}=2030-01-01T02%3A00%3A00%2B02%3A00`),
    { retention: kept, hold: true },
    'a presigned query has them too',
  )
  const refused: [headers: HeaderLine[], name: string][] = [
    [[[MODE, 'GOVERNANCE']], MODE],
    [[[DATE, date]], DATE],
    [
      [
        [MODE, 'governance'],
        [DATE, date],
      ],
      MODE,
    ],
    [
      [
        [MODE, ''],
        [DATE, date],
      ],
      MODE,
    ],
    [
      [
        [MODE, 'GOVERNANCE'],
        [DATE, 'tomorrow'],
      ],
      DATE,
    ],
    [
      [
        [MODE, 'GOVERNANCE'],
        [DATE, ''],
      ],
      DATE,
    ],
    [
      [
        [MODE, 'GOVERNANCE'],
        [DATE, '2026-01-31T12:00:00Z'],
      ],
      DATE,
    ],
    [[[HOLD, 'on']], HOLD],
    [[[HOLD, '']], HOLD],
    [
      [
        [MODE, 'GOVERNANCE'],
        [DATE, date],
        [HOLD, 'x'],
      ],
      HOLD,
    ],
  ]
  for (const [headers, name] of refused) {
    const error = refusal(() => requested(headers))
    t.equal(error.code, 'InvalidArgument', headers.join())
    t.equal(detail(error, 'ArgumentName'), name)
  }
})

test('the lock that a read tells of', async (t) => {
  const kept = { mode: 'COMPLIANCE', untilMilliseconds: LAST } as const
  const lines: HeaderLine[] = [
    [MODE, 'COMPLIANCE'],
    [DATE, '9999-12-31T23:59:59.999Z'],
  ]
  t.same(lockHeaders(undefined), [])
  t.same(lockHeaders({ retention: undefined, hold: undefined }), [])
  t.same(lockHeaders({ retention: undefined, hold: false }), [])
  t.same(lockHeaders({ retention: undefined, hold: true }), [[HOLD, 'ON']])
  t.same(lockHeaders({ retention: kept, hold: undefined }), lines)
  t.same(lockHeaders({ retention: kept, hold: false }), [...lines, [HOLD, 'OFF']])
  t.same(lockHeaders({ retention: kept, hold: true }), [...lines, [HOLD, 'ON']])
})

function bypass(value: string) {
  const { request, target } = wireRequest('DELETE', '/b/k', [['x-amz-bypass-governance-retention', value]])
  return bypassRequested(request, target)
}

test('the bypass of governance', async (t) => {
  for (const value of ['true', 'True', 'TRUE']) t.ok(bypass(value), value)
  for (const value of ['', 'false', '1', 'yes', 'true,true']) t.notOk(bypass(value), value)
  const none = wireRequest('DELETE', '/b/k')
  t.notOk(bypassRequested(none.request, none.target))
  const presigned = wireRequest('DELETE', '/b/k?x-amz-bypass-governance-retention=true')
  t.ok(bypassRequested(presigned.request, presigned.target))
})
