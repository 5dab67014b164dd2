/** Headers of Object Lock: locks requested by writes, locks reported by reads, and the bypass of governance. */

import type { Milliseconds } from '../../../engine/brands.ts'
import { type LockState, type Retention, RETENTION_MODES, type RetentionMode } from '../../../engine/events/values.ts'
import type { HeaderLine, HttpRequest } from '../../http/exchange.ts'
import { effectiveHeader } from './effective-headers.ts'
import { invalidArgument, type S3Error } from '../errors/s3-errors.ts'
import type { Target } from './target.ts'
import { isoMilliseconds, parseIsoTimestamp } from '../text/timestamps.ts'

const MODE = 'x-amz-object-lock-mode'
const RETAIN_UNTIL = 'x-amz-object-lock-retain-until-date'
const LEGAL_HOLD = 'x-amz-object-lock-legal-hold'

/** Headers by which a write locks its object. */
export const LOCK_HEADERS: readonly string[] = [MODE, RETAIN_UNTIL, LEGAL_HOLD]
/** The header that asks to bypass governance retention. */
export const BYPASS_HEADER = 'x-amz-bypass-governance-retention'

/**
 * The lock that a write (PutObject, CopyObject, CreateMultipartUpload) asks for; undefined without one. Does not check
 * whether the bucket has Object Lock and whether the caller may set it.
 * @param nowMilliseconds the date must be after it
 * @throws S3Error InvalidArgument: a mode without a date or a date without a mode (specification, Object Lock rule 1),
 *   a mode, date or hold of another form, a date that is not in the future
 */
export function requestedLock(
  request: HttpRequest,
  target: Target,
  nowMilliseconds: Milliseconds,
): LockState | undefined {
  const mode = effectiveHeader(request, target, MODE)
  const date = effectiveHeader(request, target, RETAIN_UNTIL)
  const status = effectiveHeader(request, target, LEGAL_HOLD)
  if (mode === undefined && date === undefined && status === undefined) return undefined
  const hold = holdStatus(status)
  if (status !== undefined && hold === undefined) {
    throw invalidArgument(LEGAL_HOLD, status, "Legal Hold must be either of 'ON' or 'OFF'")
  }
  return { retention: requestedRetention(mode, date, nowMilliseconds), hold }
}

function requestedRetention(mode: string | undefined, date: string | undefined, now: number): Retention | undefined {
  if (mode === undefined && date === undefined) return undefined
  if (mode === undefined || date === undefined) {
    const [name, value] = mode === undefined ? [RETAIN_UNTIL, date ?? ''] : [MODE, mode]
    throw invalidArgument(name, value, `${RETAIN_UNTIL} and ${MODE} must both be supplied`)
  }
  const known = retentionMode(mode)
  if (known === undefined) throw invalidArgument(MODE, mode, 'Unknown wormMode directive.')
  const untilMilliseconds = parseIsoTimestamp(date)
  if (untilMilliseconds === undefined) {
    throw invalidArgument(RETAIN_UNTIL, date, 'The retain until date must be provided in ISO 8601 format')
  }
  if (untilMilliseconds <= now) throw retainUntilPast(RETAIN_UNTIL, date)
  return { mode: known, untilMilliseconds }
}

/**
 * The lock headers of a read. A retention is reported as long as it is recorded, elapsed or not. A lifted hold is
 * reported only together with a retention: without one the version is unlocked and has none of these headers
 * (specification, Object Lock state of a version).
 */
export function lockHeaders(lock: LockState | undefined): HeaderLine[] {
  if (lock === undefined) return []
  const { retention, hold } = lock
  if (retention === undefined) return hold === true ? [[LEGAL_HOLD, 'ON']] : []
  const lines: HeaderLine[] = [
    [MODE, retention.mode],
    [RETAIN_UNTIL, isoMilliseconds(retention.untilMilliseconds)],
  ]
  if (hold !== undefined) lines.push([LEGAL_HOLD, hold ? 'ON' : 'OFF'])
  return lines
}

/** Whether the request asks to bypass governance retention; its permission is checked elsewhere. */
export function bypassRequested(request: HttpRequest, target: Target): boolean {
  return effectiveHeader(request, target, BYPASS_HEADER)?.toLowerCase() === 'true'
}

/** Whether a text is `ON` or `OFF`, case-sensitive; undefined for any other text. */
export function holdStatus(text: string | undefined): boolean | undefined {
  if (text === 'ON') return true
  return text === 'OFF' ? false : undefined
}

/** The mode with this name, case-sensitive; undefined for another name. */
export function retentionMode(text: string | undefined): RetentionMode | undefined {
  return RETENTION_MODES.find((mode) => mode === text)
}

/** The refusal of a retain-until date in the past. */
export function retainUntilPast(argumentName: string, date: string): S3Error {
  return invalidArgument(argumentName, date, 'The retain until date must be in the future!')
}
