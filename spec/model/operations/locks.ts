/** Retention and legal hold of versions. */
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type Operation, type Outcome, reading, refusals, targetOf } from '../expectation.ts'
import { replacementRefusals } from '../lock-rules.ts'
import type { Bucket, Moment, Retention, Version, World } from '../model-state.ts'
import { changeVersion } from '../version-rules.ts'
import { onBucket, sameText } from './buckets.ts'
import { BYPASS } from './deletions.ts'
import { isRefusal, requireVersion } from './reads.ts'

export interface VersionName {
  readonly bucket: string
  readonly key: string
  /** Undefined is the current object. */
  readonly versionId: string | undefined
}

/** `retention` undefined takes it away. */
export function putRetention(name: VersionName, retention: Retention | undefined, bypasses: boolean): Operation {
  const fields =
    retention === undefined
      ? ''
      : `<Mode>${retention.mode}</Mode><RetainUntilDate>${new Date(retention.until).toISOString()}</RetainUntilDate>`
  return {
    request: {
      method: 'PUT',
      target: lockTarget(name, 'retention'),
      headers: bypasses ? [BYPASS] : [],
      body: `<Retention>${fields}</Retention>`,
    },
    outcomes: onVersion(name, (world, version, moment) => {
      const reasons = replacementRefusals(version.retention, retention, moment, bypasses)
      if (reasons.length > 0) return refusals(world, reasons)
      const next = () => changeVersion(world, name.bucket, name.key, version.serial, { retention })
      return [{ pattern: { status: 200 }, next }]
    }),
  }
}

export function getRetention(name: VersionName): Operation {
  return {
    request: { method: 'GET', target: lockTarget(name, 'retention') },
    outcomes: onVersion(name, (world, { retention }) => {
      if (retention === undefined) return refusals(world, ['NoSuchObjectLockConfiguration'])
      const check = ({ text }: WireAnswer) =>
        sameText(
          [firstElement(text, 'Mode'), Date.parse(firstElement(text, 'RetainUntilDate') ?? '')],
          [retention.mode, retention.until],
        )
      return reading(world, { status: 200, check })
    }),
  }
}

export function putLegalHold(name: VersionName, hold: boolean): Operation {
  return {
    request: {
      method: 'PUT',
      target: lockTarget(name, 'legal-hold'),
      body: `<LegalHold><Status>${hold ? 'ON' : 'OFF'}</Status></LegalHold>`,
    },
    outcomes: onVersion(name, (world, version) => {
      const next = () => changeVersion(world, name.bucket, name.key, version.serial, { hold })
      return [{ pattern: { status: 200 }, next }]
    }),
  }
}

export function getLegalHold(name: VersionName): Operation {
  return {
    request: { method: 'GET', target: lockTarget(name, 'legal-hold') },
    outcomes: onVersion(name, (world, { hold }) => {
      if (hold === undefined) return refusals(world, ['NoSuchObjectLockConfiguration'])
      const check = ({ text }: WireAnswer) => sameText(firstElement(text, 'Status'), hold ? 'ON' : 'OFF')
      return reading(world, { status: 200, check })
    }),
  }
}

function lockTarget({ bucket, key, versionId }: VersionName, what: 'retention' | 'legal-hold'): string {
  return `${targetOf(bucket, key)}?${what}${versionId === undefined ? '' : `&versionId=${encodeURIComponent(versionId)}`}`
}

function onVersion(
  { bucket: name, key, versionId }: VersionName,
  outcomes: (world: World, version: Version, moment: Moment, bucket: Bucket) => readonly Outcome[],
): Operation['outcomes'] {
  return onBucket(name, (world, bucket, moment) => {
    const found = requireVersion(world, bucket, key, versionId)
    if (!bucket.hasLock) return [...refusals(world, ['InvalidRequest']), ...(isRefusal(found) ? found : [])]
    return isRefusal(found) ? withoutHeaders(found) : outcomes(world, found, moment, bucket)
  })
}

/** What is said of a marker here: that it is one, by either of its errors. */
function withoutHeaders(refused: readonly Outcome[]): readonly Outcome[] {
  return refused.map(({ pattern: { headers: _headers, ...pattern }, next }) => ({ pattern, next }))
}
