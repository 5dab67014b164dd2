/** Pieces that several result documents are made of. */

import { encodeUri } from './uri-encoding.ts'
import { element, escapeXml } from './xml-writer.ts'

export interface Owner {
  readonly id: string
  readonly displayName: string
}

/** @param name `Owner`, or `Initiator` of an upload */
export function ownerElement(owner: Owner, name: 'Owner' | 'Initiator' = 'Owner'): string {
  return `<${name}>${element('ID', owner.id)}${element('DisplayName', owner.displayName)}</${name}>`
}

/** The element, or nothing for undefined. */
export function optionalElement(name: string, text: string | number | undefined): string {
  return text === undefined ? '' : element(name, text)
}

/** How a listing writes keys, prefixes, delimiters and key markers: as XML text, or percent-encoded on request. */
export function nameEncoder(encodingType: 'url' | undefined): (text: string) => string {
  return encodingType === 'url' ? encodeName : escapeXml
}

/** Percent-encoded text holds nothing that XML would want escaped. */
function encodeName(text: string): string {
  return encodeUri(text, true)
}

/** An ETag element. @param etag without quotes */
export function etagElement(etag: string): string {
  return `<ETag>&quot;${escapeXml(etag)}&quot;</ETag>`
}

export function commonPrefixElements(prefixes: readonly string[], encode: (text: string) => string): string {
  let elements = ''
  for (const prefix of prefixes) elements += `<CommonPrefixes><Prefix>${encode(prefix)}</Prefix></CommonPrefixes>`
  return elements
}
