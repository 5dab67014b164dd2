/** The document of the operations on ACLs. The one ACL that there is gives the owner full control. */

import { malformedXml, S3Error } from '../errors/s3-errors.ts'
import { childText, expectOnly, readXml, type XmlElement } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'
import { type Owner, ownerElement } from './listing-elements.ts'

const ROOT = 'AccessControlPolicy'
const FULL_CONTROL = 'FULL_CONTROL'

/**
 * Returns what a document asks for: full control of the owner, or nothing where it is empty.
 * @param owner id of the owner
 * @throws S3Error NotImplemented (another ACL), MalformedXML
 */
export function parseAccessControlPolicy(body: Buffer, owner: string): 'the owner' | 'nothing' {
  if (body.length === 0) return 'nothing'
  const root = readXml(body, ROOT)
  expectOnly(root, ['Owner', 'AccessControlList'])
  const [list, ...others] = root.children.get('AccessControlList') ?? []
  if (list === undefined || others.length > 0) throw malformedXml('There must be one AccessControlList.')
  expectOnly(list, ['Grant'])
  const grants = list.children.get('Grant') ?? []
  if (grants.length > 0 && grants.every((grant) => isOwners(grant, owner))) return 'the owner'
  const message = 'ACLs are not supported: the owner has full control, and policies of the service decide for others.'
  throw new S3Error('NotImplemented', { message, refused: '?acl' })
}

function isOwners(grant: XmlElement, owner: string): boolean {
  expectOnly(grant, ['Grantee', 'Permission'])
  const [grantee, ...others] = grant.children.get('Grantee') ?? []
  if (grantee === undefined || others.length > 0) throw malformedXml('A Grant must have one Grantee.')
  return childText(grantee, 'ID') === owner && childText(grant, 'Permission') === FULL_CONTROL
}

/** Whether the value of a header `x-amz-grant-full-control` names the owner alone. */
export function grantsOwner(value: string, owner: string): boolean {
  const text = value.trim()
  return text === `id=${owner}` || text === `id="${owner}"`
}

export function ownersAcl(owner: Owner): string {
  const grantee =
    '<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">' +
    `${element('ID', owner.id)}${element('DisplayName', owner.displayName)}</Grantee>`
  const grant = `<Grant>${grantee}${element('Permission', FULL_CONTROL)}</Grant>`
  return successDocument(ROOT, `${ownerElement(owner)}<AccessControlList>${grant}</AccessControlList>`)
}
