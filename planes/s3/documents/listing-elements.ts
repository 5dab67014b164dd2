/** Elements shared by result documents. */

import type { OrderedPosition } from '../../../projections/catalog/ordered-listing.ts'
import { encodeUri } from '../text/uri-encoding.ts'
import { element, escapeXml } from '../text/xml-writer.ts'

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

/** The encoder of keys, prefixes, delimiters and key markers in a listing: XML text, or percent-encoded on request. */
export function nameEncoder(encodingType: 'url' | undefined): (text: string) => string {
  return encodingType === 'url' ? encodeName : escapeXml
}

/** Percent-encodes a name; the result needs no XML escaping. */
function encodeName(text: string): string {
  return encodeUri(text, true)
}

/** Where a listing with two markers continues. After a common prefix there is no id. */
export interface NextMarkers {
  readonly keyMarker: string
  readonly idMarker: string | undefined
}

/** @param idOf returns the id of the entry with this order within its key */
export function nextMarkers(next: OrderedPosition | undefined, idOf: (order: number) => string) {
  if (next === undefined) return undefined
  return { keyMarker: next.bytes.toString(), idMarker: next.kind === 'after-entry' ? idOf(next.order) : undefined }
}

/** An ETag element. @param etag without quotes; the journal may hold any header text there */
export function etagElement(etag: string): string {
  return `<ETag>&quot;${escapeXml(etag)}&quot;</ETag>`
}

export function commonPrefixElements(prefixes: readonly string[], encode: (text: string) => string): string {
  let elements = ''
  for (const prefix of prefixes) elements += `<CommonPrefixes><Prefix>${encode(prefix)}</Prefix></CommonPrefixes>`
  return elements
}
