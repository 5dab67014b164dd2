/** The document of PutObjectRetention and GetObjectRetention. */

import type { Milliseconds } from '../../../engine/brands.ts'
import type { Retention } from '../../../engine/events/values.ts'
import { malformedXml } from '../errors/s3-errors.ts'
import { retainUntilPast, retentionMode } from '../request/lock-headers.ts'
import { isoMilliseconds, parseIsoTimestamp } from '../text/timestamps.ts'
import { childText, expectOnly, readXml } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const ROOT = 'Retention'

/**
 * Parses the retention of a version; undefined for an empty document, which removes it.
 * @param nowMilliseconds the date must be after it
 * @throws S3Error MalformedXML (also: one of Mode and RetainUntilDate alone, an invalid
 *   date), InvalidArgument (a date that is not in the future)
 */
export function parseRetention(body: Buffer, nowMilliseconds: Milliseconds): Retention | undefined {
  const root = readXml(body, ROOT)
  expectOnly(root, ['Mode', 'RetainUntilDate'])
  if (root.children.size === 0) return undefined
  const mode = retentionMode(childText(root, 'Mode'))
  if (mode === undefined) throw malformedXml('Mode must be GOVERNANCE or COMPLIANCE.')
  const date = childText(root, 'RetainUntilDate') ?? ''
  const untilMilliseconds = parseIsoTimestamp(date)
  if (untilMilliseconds === undefined) throw malformedXml('RetainUntilDate must be a moment in ISO 8601.')
  if (untilMilliseconds <= nowMilliseconds) throw retainUntilPast('RetainUntilDate', date)
  return { mode, untilMilliseconds }
}

export function retentionDocument(retention: Retention): string {
  const date = element('RetainUntilDate', isoMilliseconds(retention.untilMilliseconds))
  return successDocument(ROOT, `${element('Mode', retention.mode)}${date}`)
}
