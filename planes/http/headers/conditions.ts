/**
 * Conditions on reads: RFC 9110 section 13. An ETag here is the text between the quotes; times are compared in whole
 * seconds, since Last-Modified has no more.
 */

import type { Microseconds, Milliseconds } from '../../../engine/brands.ts'
import { parseHttpDate } from './http-date.ts'

/** The values that conditions are compared with. */
export interface Validators {
  /** Without quotes. */
  readonly etag: string
  readonly lastModifiedMicroseconds: Microseconds
}

type Condition = 'If-Match' | 'If-None-Match' | 'If-Modified-Since' | 'If-Unmodified-Since'
/** Value of a header by lower-case name. */
export type ReadHeader = (name: string) => string | undefined

const MICROSECONDS_PER_SECOND = 1_000_000
const MILLISECONDS_PER_SECOND = 1000

/**
 * Whether If-Range allows a range (RFC 9110 section 13.1.5); true without the header. A date never allows one: an
 * object can be written twice in a second, so a date is a weak validator, and parts of two versions would be joined.
 * @param etag of the object, without quotes
 */
export function meetsIfRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || (ifRange !== '*' && matchesEtag(ifRange, etag, 'strong'))
}

/**
 * The first condition of a read that fails; undefined when all hold. ETag conditions come first and override the time
 * conditions (RFC 9110 section 13.2.2).
 * @param now an If-Modified-Since after it counts as absent
 */
export function failingCondition(read: ReadHeader, validators: Validators, now: Milliseconds): Condition | undefined {
  const modifiedSeconds = Math.floor(validators.lastModifiedMicroseconds / MICROSECONDS_PER_SECOND)
  const ifMatch = read('if-match') || undefined
  const unmodifiedSince = ifMatch === undefined ? seconds(read('if-unmodified-since'), now) : undefined
  if (ifMatch !== undefined && !matchesEtag(ifMatch, validators.etag, 'strong')) return 'If-Match'
  if (unmodifiedSince !== undefined && modifiedSeconds > unmodifiedSince) return 'If-Unmodified-Since'

  const ifNoneMatch = read('if-none-match') || undefined
  if (ifNoneMatch !== undefined) return matchesEtag(ifNoneMatch, validators.etag, 'weak') ? 'If-None-Match' : undefined
  const modifiedSince = seconds(read('if-modified-since'), now)
  if (modifiedSince === undefined || modifiedSince > now / MILLISECONDS_PER_SECOND) return undefined
  return modifiedSeconds <= modifiedSince ? 'If-Modified-Since' : undefined
}

/** A date that cannot be parsed counts as absent (RFC 9110 section 13.1.3 and 13.1.4). */
function seconds(date: string | undefined, now: Milliseconds): number | undefined {
  const milliseconds = date === undefined ? undefined : parseHttpDate(date, now)
  return milliseconds === undefined ? undefined : milliseconds / MILLISECONDS_PER_SECOND
}

/** One entity tag of a list. */
export interface EntityTag {
  readonly text: string
  readonly weak: boolean
}

const ENTITY_TAG = /(W\/)?"([^"]*)"|([^\s,"]+)/g

/** The entity tags of a list; quotes may be missing, as some clients send them. */
export function parseEtags(list: string): EntityTag[] {
  return [...list.matchAll(ENTITY_TAG)].map((match) => ({
    text: match[2] ?? match[3] ?? '',
    weak: match[1] !== undefined,
  }))
}

function matchesEtag(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list === '*') return true
  return parseEtags(list).some((tag) => tag.text === etag && (comparison === 'weak' || !tag.weak))
}
