/** GetObject and HeadObject, with versions, ranges and conditions. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { type HeaderRule, headerOf, type Operation, type Outcome, reading, refusals, targetOf } from '../expectation.ts'
import { type ModelBucket, type ModelState, type ModelVersion, wireId } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { versionNamed } from './by-rules.ts'
import { storedHeaderLines } from './writes.ts'

/** ETags without quotes, or `*`; times in milliseconds. */
export interface ReadConditions {
  readonly match?: string | undefined
  readonly noneMatch?: string | undefined
  readonly modifiedSince?: number | undefined
  readonly unmodifiedSince?: number | undefined
}

export interface ReadRequest {
  readonly method: 'GET' | 'HEAD'
  readonly bucket: string
  readonly key: string
  readonly versionId?: string | undefined
  readonly range?: string | undefined
  readonly conditions?: ReadConditions
}

/** Whether no version can have this id. */
export function isMalformed(versionId: string | undefined): boolean {
  return versionId !== undefined && !/^(?:null|[\w-]{22})$/.test(versionId)
}

/** The version that a request names, or the refusal of it; a marker is refused as well. */
export function requireVersion(
  world: ModelState,
  bucket: ModelBucket,
  key: string,
  versionId: string | undefined,
): ModelVersion | readonly Outcome[] {
  if (versionId === undefined) {
    const [newest] = world.versions(bucket, key)
    if (newest === undefined) return refusals(world, ['NoSuchKey'], { 'x-amz-delete-marker': undefined })
    return newest.isMarker ? refusals(world, ['NoSuchKey'], markerHeaders(newest)) : newest
  }
  if (isMalformed(versionId)) return refusals(world, ['InvalidArgument'])
  const version = versionNamed(world, bucket, key, versionId)
  if (version === undefined) return refusals(world, ['NoSuchVersion'])
  return version.isMarker
    ? refusals(world, ['MethodNotAllowed'], { ...markerHeaders(version), allow: 'DELETE' })
    : version
}

export function markerHeaders(marker: ModelVersion): Record<string, HeaderRule> {
  return {
    'x-amz-delete-marker': 'true',
    'x-amz-version-id': idRule(marker),
    'last-modified': new Date(marker.modified).toUTCString(),
  }
}

/** The id of a version, or any where it is not known. */
export function idRule(version: ModelVersion): HeaderRule {
  return wireId(version) ?? ((value) => value !== undefined && value !== 'null')
}

export function isRefusal(found: ModelVersion | readonly Outcome[]): found is readonly Outcome[] {
  return Array.isArray(found)
}

export function readObject(read: ReadRequest): Operation {
  const { method, bucket: name, key, versionId, range, conditions = {} } = read
  const headers = conditionLines(conditions)
  if (range !== undefined) headers.push(['range', range])
  return {
    request: { method, target: targetOf(name, key, { versionId }), headers },
    outcomes: onBucket(name, (world, bucket, { clock }) => {
      const found = requireVersion(world, bucket, key, versionId)
      if (isRefusal(found)) return found
      const judged = judge(found, conditions, clock)
      if (judged === 'failed') return refusals(world, ['PreconditionFailed'])
      const { 'x-amz-version-id': id, etag, 'last-modified': modified } = versionHeaders(bucket, found)
      if (judged === 'not modified') {
        const shown = { 'x-amz-version-id': id, etag, 'last-modified': modified }
        return reading(world, { status: 304, headers: shown, body: Buffer.alloc(0) })
      }
      return wholeOrPart(world, bucket, found, range)
    }),
  }
}

function wholeOrPart(
  world: ModelState,
  bucket: ModelBucket,
  version: ModelVersion,
  range: string | undefined,
): readonly Outcome[] {
  const headers = versionHeaders(bucket, version)
  const bytes = version.payload?.bytes ?? Buffer.alloc(0)
  const check = (answer: WireAnswer) => describedHeaders(answer, version)
  const part = range === undefined ? 'whole' : partOf(range, bytes.length)
  if (part === 'unsatisfiable') {
    return refusals(world, ['InvalidRange'], { 'content-range': `bytes */${bytes.length}` })
  }
  const [start, end] = part === 'whole' ? [0, bytes.length] : part
  const length = { 'content-length': String(end - start) }
  const body = bytes.subarray(start, end)
  if (part === 'whole') {
    return reading(world, { status: 200, headers: { ...headers, ...length, 'content-range': undefined }, body, check })
  }
  const place = { 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` }
  return reading(world, { status: 206, headers: { ...headers, ...length, ...place }, body, check })
}

/** First byte and the one behind the last (s3-wire, Range). What is no single range is as if it were not there. */
function partOf(range: string, size: number): 'whole' | 'unsatisfiable' | readonly [number, number] {
  const numbers = /^bytes=(\d*)-(\d*)$/.exec(range)
  const [, first = '', last = ''] = numbers ?? []
  if (numbers === null || (first === '' && last === '')) return 'whole'
  if (first !== '' && last !== '' && Number(last) < Number(first)) return 'whole'
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return start < end ? [start, end] : 'unsatisfiable'
}

/** Headers that an answer with this version must have. Versions of a bucket without versioning may go unnamed. */
function versionHeaders(bucket: ModelBucket, version: ModelVersion): Record<string, HeaderRule> {
  const { etag, modified, headers, lock, tags = [] } = version
  const retention = lock?.retention
  return {
    etag: `"${etag}"`,
    'last-modified': new Date(modified).toUTCString(),
    'accept-ranges': 'bytes',
    'content-type': new Map(storedHeaderLines(headers)).get('content-type') ?? 'binary/octet-stream',
    'x-amz-version-id': bucket.versioning === 'off' ? undefined : idRule(version),
    'x-amz-delete-marker': undefined,
    // Accounts that may not read tags are not told how many there are.
    'x-amz-tagging-count': (value) => value === undefined || Number(value) === tags.length / 2,
    'x-amz-object-lock-mode': retention?.mode,
    'x-amz-object-lock-retain-until-date':
      retention === undefined ? undefined : (text) => Date.parse(text ?? '') === retention.untilMilliseconds,
    'x-amz-object-lock-legal-hold': lock?.hold === true ? 'ON' : (text) => text === undefined || text === 'OFF',
  }
}

/** User metadata is what was written, and nothing else. */
function describedHeaders(answer: WireAnswer, { headers }: ModelVersion): string | undefined {
  const names = Object.keys(answer.headers).filter((name) => name.startsWith('x-amz-meta-'))
  const actual = names.map((name) => [name, headerOf(answer, name)] as const).sort(byName)
  return sameText(
    actual,
    storedHeaderLines(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .sort(byName),
  )
}

function byName([left]: readonly [string, ...unknown[]], [right]: readonly [string, ...unknown[]]): number {
  return left < right ? -1 : 1
}

const quoted = (tag: string): string => (tag === '*' ? tag : `"${tag}"`)
const httpDate = (time: number): string => new Date(time).toUTCString()

function conditionLines({ match, noneMatch, modifiedSince, unmodifiedSince }: ReadConditions): HeaderLine[] {
  const lines: HeaderLine[] = []
  if (match !== undefined) lines.push(['if-match', quoted(match)])
  if (noneMatch !== undefined) lines.push(['if-none-match', quoted(noneMatch)])
  if (modifiedSince !== undefined) lines.push(['if-modified-since', httpDate(modifiedSince)])
  if (unmodifiedSince !== undefined) lines.push(['if-unmodified-since', httpDate(unmodifiedSince)])
  return lines
}

/** RFC 9110 section 13.2.2, in whole seconds; a time of If-Modified-Since that is to come counts as absent. */
export function judge(
  { etag, modified }: ModelVersion,
  { match, noneMatch, modifiedSince, unmodifiedSince }: ReadConditions,
  clock: number,
): 'passed' | 'failed' | 'not modified' {
  const isMatch = (text: string) => text === '*' || text === etag
  const isNewer = (since: number) => Math.floor(modified / 1000) > Math.floor(since / 1000)
  if (match !== undefined && !isMatch(match)) return 'failed'
  if (match === undefined && unmodifiedSince !== undefined && isNewer(unmodifiedSince)) return 'failed'
  if (noneMatch !== undefined) return isMatch(noneMatch) ? 'not modified' : 'passed'
  const isToCome = modifiedSince !== undefined && Math.floor(modifiedSince / 1000) > clock / 1000
  if (modifiedSince === undefined || isToCome) return 'passed'
  return isNewer(modifiedSince) ? 'passed' : 'not modified'
}
