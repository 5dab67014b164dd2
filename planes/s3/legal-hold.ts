/** The document of PutObjectLegalHold and GetObjectLegalHold. */

import { malformedXml } from './errors.ts'
import { childText, expectOnly, readXml } from './xml-reader.ts'
import { element, successDocument } from './xml-writer.ts'

const ROOT = 'LegalHold'

/**
 * Whether the version is to be held.
 * @throws S3Error MaxMessageLengthExceeded, MalformedXML
 */
export function parseLegalHold(body: Buffer, bytesMaximum: number): boolean {
  const root = readXml(body, { root: ROOT, bytesMaximum })
  expectOnly(root, ['Status'])
  const hold = holdStatus(childText(root, 'Status'))
  if (hold === undefined) throw malformedXml('Status must be ON or OFF.')
  return hold
}

export function legalHoldDocument(hold: boolean): string {
  return successDocument(ROOT, element('Status', hold ? 'ON' : 'OFF'))
}

/** What `ON` and `OFF`, in exactly this case, say; undefined for any other text. */
export function holdStatus(text: string | undefined): boolean | undefined {
  if (text === 'ON') return true
  return text === 'OFF' ? false : undefined
}
