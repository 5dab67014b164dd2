/** The document of PutBucketVersioning and GetBucketVersioning. */

import type { Versioning } from '../../../engine/events/values.ts'
import { malformedXml, S3Error } from '../errors/s3-errors.ts'
import { childText, expectOnly, readXml } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const ROOT = 'VersioningConfiguration'

/**
 * Parses the requested state of versioning.
 * @throws S3Error MalformedXML, IllegalVersioningConfigurationException (no Status),
 *   NotImplemented (MFA delete enabled)
 */
export function parseVersioningConfiguration(body: Buffer): 'enabled' | 'suspended' {
  const root = readXml(body, ROOT)
  expectOnly(root, ['Status', 'MfaDelete'])
  const status = childText(root, 'Status')
  const mfaDelete = childText(root, 'MfaDelete')
  if (mfaDelete === 'Enabled') throw new S3Error('NotImplemented', { message: 'MFA delete is not supported.' })
  if (mfaDelete !== undefined && mfaDelete !== 'Disabled') throw malformedXml('MfaDelete must be Enabled or Disabled.')
  if (status === undefined) throw new S3Error('IllegalVersioningConfigurationException')
  if (status === 'Enabled') return 'enabled'
  if (status === 'Suspended') return 'suspended'
  throw malformedXml('Status must be Enabled or Suspended.')
}

/** The state of versioning as a document; empty for a bucket that never had versioning. */
export function versioningConfiguration(versioning: Versioning): string {
  if (versioning === 'off') return successDocument(ROOT, '')
  return successDocument(ROOT, element('Status', versioning === 'enabled' ? 'Enabled' : 'Suspended'))
}
