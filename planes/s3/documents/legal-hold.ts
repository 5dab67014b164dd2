/** The document of PutObjectLegalHold and GetObjectLegalHold. */

import { malformedXml } from '../errors/s3-errors.ts'
import { holdStatus } from '../request/lock-headers.ts'
import { childText, expectOnly, readXml } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const ROOT = 'LegalHold'

/**
 * Whether to set a legal hold.
 * @throws S3Error MalformedXML
 */
export function parseLegalHold(body: Buffer): boolean {
  const root = readXml(body, ROOT)
  expectOnly(root, ['Status'])
  const hold = holdStatus(childText(root, 'Status'))
  if (hold === undefined) throw malformedXml('Status must be ON or OFF.')
  return hold
}

export function legalHoldDocument(hold: boolean): string {
  return successDocument(ROOT, element('Status', hold ? 'ON' : 'OFF'))
}
