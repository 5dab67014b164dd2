/** CopyObject: from the current object or a version, onto another key or itself. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type ErrorCode, type HeaderRule, type Operation, type Outcome, refusals, targetOf } from '../expectation.ts'
import { type AskedLock, askedLockRefusals, lockAtBirth, lockHeaders } from '../lock-rules.ts'
import type { Bucket, Moment, StoredHeaders, Version, World } from '../model-state.ts'
import { writeVersion } from '../version-rules.ts'
import { onBucket, sameText } from './buckets.ts'
import { isRefusal, judge, type ReadConditions, requireVersion } from './reads.ts'
import {
  conditionHeaders,
  conditionRefusals,
  newVersionId,
  storedHeaderLines,
  versionIdOf,
  type WriteCondition,
} from './writes.ts'

export interface CopyRequest {
  readonly source: { readonly bucket: string; readonly key: string; readonly versionId: string | undefined }
  readonly bucket: string
  readonly key: string
  /** Headers that replace those of the source; undefined copies them. */
  readonly replacement: StoredHeaders | undefined
  readonly lock: AskedLock
  readonly condition: WriteCondition
  /** Of the ETag of the source. */
  readonly sourceConditions: Pick<ReadConditions, 'match' | 'noneMatch'>
}

export function copyObject(copy: CopyRequest): Operation {
  const { bucket: name, key } = copy
  return {
    request: { method: 'PUT', target: targetOf(name, key), headers: headerLines(copy) },
    outcomes: onBucket(name, (world, bucket, moment) => {
      const sourceBucket = world.buckets.get(copy.source.bucket)
      if (sourceBucket === undefined) {
        return refusals(world, ['NoSuchBucket', ...refusalsOfTarget(bucket, copy, moment)])
      }
      const found = requireSource(world, sourceBucket, copy)
      const reasons = [...refusalsOfTarget(bucket, copy, moment), ...refusalsOfSource(found, copy, moment)]
      if (isRefusal(found)) return [...found, ...refusals(world, reasons)]
      if (reasons.length > 0) return refusals(world, reasons)
      return [copied(world, bucket, sourceBucket, found, copy, moment)]
    }),
  }
}

function copied(
  world: World,
  bucket: Bucket,
  sourceBucket: Bucket,
  source: Version,
  copy: CopyRequest,
  { now }: Moment,
): Outcome {
  const { bytes, etag } = source
  const headers = copy.replacement ?? source.headers
  const version = { isMarker: false, bytes, etag, headers, modified: now, ...lockAtBirth(bucket, copy.lock, now) }
  const answered: Record<string, HeaderRule> = { 'x-amz-version-id': newVersionId(world, bucket) }
  if (sourceBucket.versioning !== 'off' && source.id !== undefined) {
    answered['x-amz-copy-source-version-id'] = source.id
  }
  const check = ({ text }: WireAnswer) =>
    sameText(
      [firstElement(text, 'ETag'), firstElement(text, 'LastModified')],
      [`"${etag}"`, new Date(now).toISOString()],
    )
  return {
    pattern: { status: 200, headers: answered, check },
    next: (answer) => writeVersion(world, copy.bucket, copy.key, version, versionIdOf(answer)),
  }
}

/** As a read of it would be answered, but that a marker is no source at all. */
function requireSource(world: World, bucket: Bucket, { source }: CopyRequest): Version | readonly Outcome[] {
  const found = requireVersion(world, bucket, source.key, source.versionId)
  if (!isRefusal(found)) return found
  const codes = found.map(({ pattern }) => pattern.code ?? 'InvalidRequest')
  return refusals(
    world,
    codes.map((code) => (code === 'MethodNotAllowed' ? 'InvalidRequest' : code)),
  )
}

function refusalsOfTarget(bucket: Bucket, { key, lock, condition }: CopyRequest, moment: Moment): ErrorCode[] {
  return [...askedLockRefusals(bucket, lock, moment), ...conditionRefusals(bucket, key, condition)]
}

function refusalsOfSource(found: Version | readonly Outcome[], copy: CopyRequest, { clock }: Moment): ErrorCode[] {
  const { source, bucket, key, replacement, sourceConditions } = copy
  const isItself = source.bucket === bucket && source.key === key && source.versionId === undefined
  const reasons: ErrorCode[] = isItself && replacement === undefined ? ['InvalidRequest'] : []
  if (isRefusal(found) || judge(found, sourceConditions, clock) === 'passed') return reasons
  return [...reasons, 'PreconditionFailed']
}

function headerLines({ source, replacement, lock, condition, sourceConditions }: CopyRequest): HeaderLine[] {
  const version = source.versionId === undefined ? '' : `?versionId=${source.versionId}`
  const lines: HeaderLine[] = [['x-amz-copy-source', `${targetOf(source.bucket, source.key)}${version}`]]
  if (replacement !== undefined) lines.push(['x-amz-metadata-directive', 'REPLACE'], ...storedHeaderLines(replacement))
  const { match, noneMatch } = sourceConditions
  if (match !== undefined) lines.push(['x-amz-copy-source-if-match', `"${match}"`])
  if (noneMatch !== undefined) lines.push(['x-amz-copy-source-if-none-match', `"${noneMatch}"`])
  return [...lines, ...lockHeaders(lock), ...conditionHeaders(condition)]
}
