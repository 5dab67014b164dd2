/** The document of PutObjectLegalHold and GetObjectLegalHold. */

import { malformedXml } from '../errors.ts'
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

/** Whether a text is `ON` or `OFF`, case-sensitive; undefined for any other text. */
export function holdStatus(text: string | undefined): boolean | undefined {
  if (text === 'ON') return true
  return text === 'OFF' ? false : undefined
}
