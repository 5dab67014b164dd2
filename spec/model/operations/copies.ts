/** CopyObject: from the current object or a version, onto another key or itself. */
import type { Command } from '../../../engine/commands/commands.ts'
import type { WriteCondition } from '../../../engine/commands/spine-commands.ts'
import type { HeaderPairs } from '../../../engine/events/values.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { copyObject as copying } from '../../support/commands.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type HeaderRule, type Operation, type Outcome, type Pattern, refusals, targetOf } from '../expectation.ts'
import { type ModelState, type ModelVersion, wireId } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { byRules, type Carried, orRefused, type VersionName } from './by-rules.ts'
import { isRefusal, judge, type ReadConditions, requireVersion } from './reads.ts'
import {
  type AskedLock,
  conditionHeaders,
  lockHeaders,
  lockOf,
  newVersionId,
  storedHeaderLines,
  tagHeaders,
} from './writes.ts'

export interface CopyRequest {
  readonly source: VersionName
  readonly bucket: string
  readonly key: string
  /** Headers that replace those of the source; undefined copies them. */
  readonly replacement: HeaderPairs | undefined
  readonly lock: AskedLock
  readonly condition: WriteCondition
  /** Of the ETag of the source. */
  readonly sourceConditions: Pick<ReadConditions, 'match' | 'noneMatch'>
  /** In place of those of the source; undefined copies them. */
  readonly tags?: readonly string[] | undefined
}

export type Source = ModelVersion | readonly Outcome[]

export function copyObject(copy: CopyRequest): Operation {
  const { bucket, key, source, sourceConditions } = copy
  const ruled = byRules(
    (world) => commandOf(copy, sourceOf(world, source)),
    (carried) => patternOf(carried, copy),
  )
  return {
    request: { method: 'PUT', target: targetOf(bucket, key), headers: headerLines(copy) },
    outcomes: onBucket(bucket, (world, _bucket, moment) => {
      const found = sourceOf(world, source)
      if (isRefusal(found)) return orRefused(world, found, ruled(world, moment))
      const isFailed = judge(found, sourceConditions, moment.clock) !== 'passed'
      return orRefused(world, isFailed ? ['PreconditionFailed'] : [], ruled(world, moment))
    }),
  }
}

/** As a read of it would be answered, but that a marker cannot be a source at all. */
export function sourceOf(world: ModelState, { bucket: name, key, versionId }: VersionName): Source {
  const bucket = world.buckets.get(name)
  if (bucket === undefined) return refusals(world, ['NoSuchBucket'])
  const found = requireVersion(world, bucket, key, versionId)
  if (!isRefusal(found)) return found
  const codes = found.map(({ pattern }) => pattern.code ?? 'InvalidRequest')
  return refusals(
    world,
    codes.map((code) => (code === 'MethodNotAllowed' ? 'InvalidRequest' : code)),
  )
}

/** The planes have found the source before; without one, a current object that is not there. */
function commandOf(copy: CopyRequest, found: Source): Command {
  const { source, bucket, key, replacement, lock, condition, tags } = copy
  const isThere = !isRefusal(found)
  const from = { bucket: source.bucket, key: source.key, sequence: isThere ? found.sequence : 1 }
  const headers = replacement && { headers: replacement, metadata: [] }
  const sourceIsVersion = source.versionId !== undefined
  const plain = { ...copying(from, { bucket, key }, headers), sourceIsVersion, condition, ...lockOf(lock) }
  return tags === undefined ? plain : { ...plain, tags }
}

function patternOf(carried: Carried, { source, bucket, key }: CopyRequest): Pattern {
  const { before, after, time } = carried
  const [made] = after.versions(after.buckets.get(bucket), key)
  const headers = { 'x-amz-version-id': newVersionId(carried), ...sourceHeader(before, source) }
  const check = ({ text }: WireAnswer) =>
    sameText(
      [firstElement(text, 'ETag'), firstElement(text, 'LastModified')],
      [`"${made?.etag}"`, new Date(time).toISOString()],
    )
  return { status: 200, headers, check }
}

function headerLines({ replacement, lock, condition, tags, ...from }: CopyRequest): HeaderLine[] {
  const lines = sourceLines(from)
  if (tags !== undefined) lines.push(['x-amz-tagging-directive', 'REPLACE'], ...tagHeaders(tags))
  if (replacement !== undefined) lines.push(['x-amz-metadata-directive', 'REPLACE'], ...storedHeaderLines(replacement))
  return [...lines, ...lockHeaders(lock), ...conditionHeaders(condition)]
}

/**
 * What the answer says of the version that was copied. Where versioning was switched on after the source was found, nothing
 * is said of one that had no id then.
 */
export function sourceHeader(world: ModelState, source: VersionName): Record<string, HeaderRule> {
  const found = sourceOf(world, source)
  const id = isRefusal(found) ? undefined : wireId(found)
  if (world.buckets.get(source.bucket)?.versioning === 'off') return { 'x-amz-copy-source-version-id': undefined }
  if (id === 'null') return { 'x-amz-copy-source-version-id': (value) => value === undefined || value === id }
  return id === undefined ? {} : { 'x-amz-copy-source-version-id': id }
}

/** The headers that name a source, and the conditions on it. */
export function sourceLines({
  source: { bucket, key, versionId },
  sourceConditions: { match, noneMatch },
}: Pick<CopyRequest, 'source' | 'sourceConditions'>): HeaderLine[] {
  const version = versionId === undefined ? '' : `?versionId=${versionId}`
  const lines: HeaderLine[] = [['x-amz-copy-source', `${targetOf(bucket, key)}${version}`]]
  if (match !== undefined) lines.push(['x-amz-copy-source-if-match', `"${match}"`])
  if (noneMatch !== undefined) lines.push(['x-amz-copy-source-if-none-match', `"${noneMatch}"`])
  return lines
}
