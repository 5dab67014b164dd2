/** PutObject, and what every write of an object has in common. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import type { Content } from '../content.ts'
import { type ErrorCode, headerOf, type HeaderRule, type Operation, refusals, targetOf } from '../expectation.ts'
import { type AskedLock, askedLockRefusals, lockAtBirth, lockHeaders } from '../lock-rules.ts'
import {
  type Bucket,
  currentOf,
  knownIds,
  type StoredHeaders,
  type Version,
  versionsOf,
  type World,
} from '../model-state.ts'
import { writeVersion } from '../version-rules.ts'
import { onBucket } from './buckets.ts'

/** What a write demands of the current object: nothing, none, any, one with this ETag, none with this ETag. */
export type WriteCondition = 'none' | 'absent' | 'exists' | { readonly etag: string } | { readonly otherThan: string }

export function conditionHeaders(condition: WriteCondition): HeaderLine[] {
  if (condition === 'none') return []
  if (condition === 'absent') return [['if-none-match', '*']]
  if (condition === 'exists') return [['if-match', '*']]
  return 'etag' in condition ? [['if-match', `"${condition.etag}"`]] : [['if-none-match', `"${condition.otherThan}"`]]
}

export function conditionRefusals(bucket: Bucket, key: string, condition: WriteCondition): ErrorCode[] {
  return refusalsAt(currentOf(bucket, key), condition)
}

function refusalsAt(current: Version | undefined, condition: WriteCondition): ErrorCode[] {
  if (condition === 'none') return []
  if (condition === 'absent') return unless(current === undefined)
  if (current === undefined) return typeof condition === 'object' && 'otherThan' in condition ? [] : ['NoSuchKey']
  if (condition === 'exists') return []
  return unless('etag' in condition ? condition.etag === current.etag : condition.otherThan !== current.etag)
}

function unless(holds: boolean): ErrorCode[] {
  return holds ? [] : ['PreconditionFailed']
}

/** What is not there needs no deletion, whatever the condition; a delete marker is there, and has no ETag. */
export function deletionConditionRefusals(bucket: Bucket, key: string, condition: WriteCondition): ErrorCode[] {
  const [newest] = versionsOf(bucket, key)
  return newest === undefined ? [] : refusalsAt(newest, condition)
}

export function storedHeaderLines(headers: StoredHeaders): HeaderLine[] {
  return [...headers]
}

/** The version id of an answer to a write: a new one where versioning is enabled; a `null` version goes unnamed. */
export function newVersionId(world: World, bucket: Bucket): HeaderRule {
  if (bucket.versioning !== 'enabled') return undefined
  const known = knownIds(world)
  return (id) => id !== undefined && id !== '' && id !== 'null' && !known.has(id)
}

export function versionIdOf(answer: WireAnswer | undefined): string | undefined {
  return answer === undefined ? undefined : headerOf(answer, 'x-amz-version-id')
}

export interface PutRequest {
  readonly bucket: string
  readonly key: string
  readonly content: Content
  readonly headers: StoredHeaders
  readonly lock: AskedLock
  readonly condition: WriteCondition
}

export function putObject({ bucket: name, key, content, headers, lock, condition }: PutRequest): Operation {
  const lines = [...storedHeaderLines(headers), ...lockHeaders(lock), ...conditionHeaders(condition)]
  return {
    request: { method: 'PUT', target: targetOf(name, key), headers: lines, body: content },
    outcomes: onBucket(name, (world, bucket, moment) => {
      const reasons = [...askedLockRefusals(bucket, lock, moment), ...conditionRefusals(bucket, key, condition)]
      if (reasons.length > 0) return refusals(world, reasons)
      const { bytes, md5 } = content
      const { now } = moment
      const born = lockAtBirth(bucket, lock, now)
      const version = { isMarker: false, bytes, etag: md5, headers, modified: now, ...born }
      const answered = { etag: `"${md5}"`, 'x-amz-version-id': newVersionId(world, bucket) }
      return [
        {
          pattern: { status: 200, headers: answered },
          next: (answer) => writeVersion(world, name, key, version, versionIdOf(answer)),
        },
      ]
    }),
  }
}
