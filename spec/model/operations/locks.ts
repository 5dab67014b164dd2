/** Retention and legal hold of versions. */
import type { Retention } from '../../../engine/events/values.ts'
import { setLegalHold, setRetention } from '../../support/version-commands.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type Operation, type Outcome, type Pattern, reading, refusals, targetOf } from '../expectation.ts'
import type { ModelState, ModelVersion } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { byRules, orRefused, selectorOf, type VersionName } from './by-rules.ts'
import { BYPASS } from './deletions.ts'
import { isMalformed, isRefusal, requireVersion } from './reads.ts'

/** `retention` undefined takes it away. */
export function putRetention(name: VersionName, retention: Retention | undefined, bypasses: boolean): Operation {
  const { bucket, key } = name
  const end = new Date(retention?.untilMilliseconds ?? 0).toISOString()
  const fields =
    retention === undefined ? '' : `<Mode>${retention.mode}</Mode><RetainUntilDate>${end}</RetainUntilDate>`
  return {
    request: {
      method: 'PUT',
      target: lockTarget(name, 'retention'),
      headers: bypasses ? [BYPASS] : [],
      body: `<Retention>${fields}</Retention>`,
    },
    outcomes: unlessMalformed(
      name,
      byRules((world) => setRetention(bucket, key, retention, selectorOf(world, name), bypasses), done),
    ),
  }
}

export function putLegalHold(name: VersionName, hold: boolean): Operation {
  const { bucket, key } = name
  return {
    request: {
      method: 'PUT',
      target: lockTarget(name, 'legal-hold'),
      body: `<LegalHold><Status>${hold ? 'ON' : 'OFF'}</Status></LegalHold>`,
    },
    outcomes: unlessMalformed(
      name,
      byRules((world) => setLegalHold(bucket, key, hold, selectorOf(world, name)), done),
    ),
  }
}

export function getRetention(name: VersionName): Operation {
  return {
    request: { method: 'GET', target: lockTarget(name, 'retention') },
    outcomes: onVersion(name, (world, { lock }) => {
      const retention = lock?.retention
      if (retention === undefined) return refusals(world, ['NoSuchObjectLockConfiguration'])
      const check = ({ text }: WireAnswer) =>
        sameText(
          [firstElement(text, 'Mode'), Date.parse(firstElement(text, 'RetainUntilDate') ?? '')],
          [retention.mode, retention.untilMilliseconds],
        )
      return reading(world, { status: 200, check })
    }),
  }
}

export function getLegalHold(name: VersionName): Operation {
  return {
    request: { method: 'GET', target: lockTarget(name, 'legal-hold') },
    outcomes: onVersion(name, (world, { lock }) => {
      const hold = lock?.hold
      if (hold === undefined) return refusals(world, ['NoSuchObjectLockConfiguration'])
      const check = ({ text }: WireAnswer) => sameText(firstElement(text, 'Status'), hold ? 'ON' : 'OFF')
      return reading(world, { status: 200, check })
    }),
  }
}

function done(): Pattern {
  return { status: 200 }
}

function lockTarget({ bucket, key, versionId }: VersionName, what: 'retention' | 'legal-hold'): string {
  return `${targetOf(bucket, key)}?${what}${versionId === undefined ? '' : `&versionId=${encodeURIComponent(versionId)}`}`
}

/** An id that cannot be one is refused before anything that a bucket with Object Lock has is looked for. */
function unlessMalformed(
  { bucket: name, versionId }: VersionName,
  ruled: Operation['outcomes'],
): Operation['outcomes'] {
  if (!isMalformed(versionId)) return ruled
  return onBucket(name, (world, { lockEnabled }) =>
    refusals(world, lockEnabled ? ['InvalidArgument'] : ['InvalidRequest', 'InvalidArgument']),
  )
}

function onVersion(
  { bucket: name, key, versionId }: VersionName,
  outcomes: (world: ModelState, version: ModelVersion) => readonly Outcome[],
): Operation['outcomes'] {
  return onBucket(name, (world, bucket) => {
    const found = requireVersion(world, bucket, key, versionId)
    const refused = isRefusal(found) ? withoutHeaders(found) : []
    if (!bucket.lockEnabled) return orRefused(world, ['InvalidRequest'], refused)
    return isRefusal(found) ? refused : outcomes(world, found)
  })
}

/** What is said of a marker here: that it is one, by either of its errors. */
export function withoutHeaders(refused: readonly Outcome[]): readonly Outcome[] {
  return refused.map(({ pattern: { headers: _headers, ...pattern }, next }) => ({ pattern, next }))
}
