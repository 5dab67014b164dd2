/** Elements of listings on the wire. */
import { blocks, firstElement } from '../../support/wire-client.ts'
import { byUtf8, type ListFilter } from '../naive-listing.ts'

/** An element of a listing that was asked for with `encoding-type=url`, decoded. */
export function decodedElement(xml: string, name: string): string | undefined {
  const text = firstElement(xml, name)
  return text === undefined ? undefined : decodeURIComponent(text)
}

export function listedPrefixes(xml: string): string[] {
  return blocks(xml, 'CommonPrefixes').map((block) => decodedElement(block, 'Prefix') ?? '')
}

/**
 * Whether something under a key comes after a key marker: after everything under that key, and where it is a common
 * prefix after all keys of that.
 * @param isAfterWithin for the key of the marker, where that names something under it as well
 */
export function isAfterMarker(
  { keyMarker, prefix, delimiter }: ListFilter & { readonly keyMarker?: string | undefined },
  key: string,
  isAfterWithin: boolean | undefined,
): boolean {
  if (keyMarker === undefined) return true
  if (key === keyMarker && isAfterWithin !== undefined) return isAfterWithin
  const at = delimiter === '' ? -1 : keyMarker.indexOf(delimiter, prefix.length)
  const isPrefix = keyMarker.startsWith(prefix) && at !== -1 && at + delimiter.length === keyMarker.length
  return byUtf8(key, keyMarker) > 0 && !(isPrefix && isAfterWithin === undefined && key.startsWith(keyMarker))
}
