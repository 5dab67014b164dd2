/** The document of PutObjectLockConfiguration and GetObjectLockConfiguration: the default retention of a bucket. */

import { DEFAULT_RETENTION_MAXIMUM } from '../../../engine/domain/lock.ts'
import type { DefaultRetention } from '../../../engine/events/values.ts'
import { malformedXml, S3Error } from '../errors/s3-errors.ts'
import { retentionMode } from '../request/lock-headers.ts'
import { childText, expectOnly, readXml, type XmlElement } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const ROOT = 'ObjectLockConfiguration'

/**
 * Parses the default retention of a bucket; undefined for a document without a Rule, which removes it.
 * @throws S3Error MalformedXML (also: Days and Years both or neither), InvalidRetentionPeriod
 *   (under 1, over 36500 days or 100 years)
 */
export function parseObjectLockConfiguration(body: Buffer): DefaultRetention | undefined {
  const root = readXml(body, ROOT)
  expectOnly(root, ['ObjectLockEnabled', 'Rule'])
  if (childText(root, 'ObjectLockEnabled') !== 'Enabled') throw malformedXml('ObjectLockEnabled must be Enabled.')
  const rule = onlyChild(root, 'Rule')
  if (rule === undefined) return undefined
  expectOnly(rule, ['DefaultRetention'])
  const retention = onlyChild(rule, 'DefaultRetention')
  if (retention === undefined) throw malformedXml('Rule must hold DefaultRetention.')
  expectOnly(retention, ['Mode', 'Days', 'Years'])
  const mode = retentionMode(childText(retention, 'Mode'))
  if (mode === undefined) throw malformedXml('Mode must be GOVERNANCE or COMPLIANCE.')
  return { mode, ...period(childText(retention, 'Days'), childText(retention, 'Years')) }
}

/** The lock configuration of a bucket with Object Lock. */
export function objectLockConfiguration(retention: DefaultRetention | undefined): string {
  const enabled = element('ObjectLockEnabled', 'Enabled')
  if (retention === undefined) return successDocument(ROOT, enabled)
  const time = element(retention.unit === 'days' ? 'Days' : 'Years', retention.value)
  const inner = `${element('Mode', retention.mode)}${time}`
  return successDocument(ROOT, `${enabled}<Rule><DefaultRetention>${inner}</DefaultRetention></Rule>`)
}

function onlyChild(parent: XmlElement, name: string): XmlElement | undefined {
  const [child, ...others] = parent.children.get(name) ?? []
  if (others.length > 0) throw malformedXml(`${name} occurs more than once.`)
  return child
}

function period(days: string | undefined, years: string | undefined): Pick<DefaultRetention, 'unit' | 'value'> {
  if ((days === undefined) === (years === undefined)) throw malformedXml('There must be either Days or Years.')
  const unit = days === undefined ? 'years' : 'days'
  const text = days ?? years ?? ''
  if (!/^[+-]?\d+$/.test(text)) throw malformedXml('Days and Years must be whole numbers.')
  const value = Number(text)
  const maximum = DEFAULT_RETENTION_MAXIMUM[unit]
  if (value >= 1 && value <= maximum) return { unit, value }
  const message = `The default retention period must be 1 to ${maximum} ${unit}.`
  throw new S3Error('InvalidRetentionPeriod', { message })
}
