/** PutObject, and what every write of an object has in common. */
import { millisecondsOf } from '../../../engine/brands.ts'
import type { WriteBody, WriteCondition } from '../../../engine/commands/spine-commands.ts'
import type { HeaderPairs, LockState, RetentionMode } from '../../../engine/events/values.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { write } from '../../support/commands.ts'
import type { Content } from '../content.ts'
import { type HeaderRule, type Operation, targetOf } from '../expectation.ts'
import { tagText } from '../naive-tags.ts'
import { onBucket } from './buckets.ts'
import { byRules, type Carried, orRefused } from './by-rules.ts'

export const UNCONDITIONAL: WriteCondition = { kind: 'none' }

export function conditionHeaders(condition: WriteCondition): HeaderLine[] {
  const { kind } = condition
  if (kind === 'none') return []
  const isNegative = kind === 'absent' || kind === 'differs'
  const value = 'etags' in condition ? condition.etags.map((etag) => `"${etag}"`).join(', ') : '*'
  return [[isNegative ? 'if-none-match' : 'if-match', value]]
}

/** What the lock headers of a write say. A mode without a time, or a time without a mode, is a fault of the caller. */
export interface AskedLock {
  readonly mode?: RetentionMode | undefined
  readonly until?: number | undefined
  readonly hold?: boolean | undefined
}

export function lockHeaders({ mode, until, hold }: AskedLock): HeaderLine[] {
  const headers: HeaderLine[] = []
  if (mode !== undefined) headers.push(['x-amz-object-lock-mode', mode])
  if (until !== undefined) headers.push(['x-amz-object-lock-retain-until-date', new Date(until).toISOString()])
  if (hold !== undefined) headers.push(['x-amz-object-lock-legal-hold', hold ? 'ON' : 'OFF'])
  return headers
}

/** A lock that is half said is refused as one that ended long ago. */
export function lockOf({ mode, until, hold }: AskedLock): { readonly lock?: LockState } {
  if (mode === undefined && until === undefined && hold === undefined) return {}
  const isHalfSaid = (mode === undefined) !== (until === undefined)
  const retention = { mode: mode ?? 'GOVERNANCE', untilMilliseconds: millisecondsOf(isHalfSaid ? 0 : (until ?? 0)) }
  return { lock: { retention: mode === undefined && until === undefined ? undefined : retention, hold } }
}

/** Headers that are stored with an object, as lines; names are `content-type` and `x-amz-meta-*`. */
export function storedHeaderLines(headers: HeaderPairs): HeaderLine[] {
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as const] : []))
}

export function bodyOf({ bytes }: Content): WriteBody {
  return bytes.length === 0 ? { kind: 'empty' } : { kind: 'inline', bytes, checksum: 0, sealed: false }
}

/** What a version id looks like (spec/decisions/0017). */
const VERSION_ID = /^[\w-]{22}$/

/** The version id of an answer to a write: a new one where versioning is enabled; a `null` version goes unnamed. */
export function newVersionId({ outcome, before }: Carried): HeaderRule {
  if (outcome.version === undefined || outcome.version === 'null') return undefined
  const known = new Set(before.everyVersion.map(({ version }) => version.id))
  return (id) => id !== undefined && VERSION_ID.test(id) && !known.has(id)
}

export interface PutRequest {
  readonly bucket: string
  readonly key: string
  readonly content: Content
  readonly headers: HeaderPairs
  readonly lock: AskedLock
  readonly condition: WriteCondition
  readonly tags?: readonly string[] | undefined
}

/** The header that gives a new version its tags. */
export function tagHeaders(tags: readonly string[] | undefined): HeaderLine[] {
  return tags === undefined ? [] : [['x-amz-tagging', tagText(tags) ?? '']]
}

export function putObject({ bucket, key, content, headers, lock, condition, tags }: PutRequest): Operation {
  const described = [...storedHeaderLines(headers), ...tagHeaders(tags)]
  const lines = [...described, ...lockHeaders(lock), ...conditionHeaders(condition)]
  const { bytes, md5 } = content
  const stored = { size: bytes.length, etag: md5, body: bodyOf(content), headers }
  const tagged = tags === undefined ? {} : { tags }
  const command = { ...write(bucket, key, Buffer.alloc(0), condition), ...stored, ...lockOf(lock), ...tagged }
  return {
    request: { method: 'PUT', target: targetOf(bucket, key), headers: lines, body: content },
    outcomes: byRules(
      () => command,
      (carried) => ({ status: 200, headers: { etag: `"${md5}"`, 'x-amz-version-id': newVersionId(carried) } }),
    ),
  }
}

export interface AppendRequest extends PutRequest {
  readonly offset: number
}

/** PutObject at an offset. Metadata of an object that must be there is refused before anything is looked for. */
export function appendObject({ bucket, key, content, headers, lock, condition, offset }: AppendRequest): Operation {
  const lines = [...storedHeaderLines(headers), ...lockHeaders(lock), ...conditionHeaders(condition)]
  const { bytes, md5 } = content
  const stored = { size: bytes.length, etag: md5, body: bodyOf(content), headers, offset }
  const writing = write(bucket, key, Buffer.alloc(0), condition)
  const command = { ...writing, kind: 'append-object' as const, ...stored, ...lockOf(lock) }
  const isRefused = offset > 0 && headers.some((name) => name.startsWith('x-amz-meta-'))
  const ruled = byRules(
    () => command,
    (carried) => ({
      status: 200,
      headers: {
        etag: `"${carried.outcome.etag}"`,
        'x-amz-version-id': newVersionId(carried),
        'x-amz-object-size': String(offset + bytes.length),
      },
    }),
  )
  return {
    request: {
      method: 'PUT',
      target: targetOf(bucket, key),
      headers: [...lines, ['x-amz-write-offset-bytes', String(offset)]],
      body: content,
    },
    outcomes: onBucket(bucket, (world, _bucket, moment) =>
      orRefused(world, isRefused ? ['InvalidRequest'] : [], ruled(world, moment)),
    ),
  }
}
