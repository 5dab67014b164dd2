/**
 * Percent encoding of AWS signatures and `encoding-type=url`: unreserved characters of RFC 3986 stay, every other byte
 * of the UTF-8 form becomes `%XX` with upper-case digits.
 */

const RESERVED = /[^A-Za-z0-9\-._~]/
const RESERVED_BUT_SLASH = /[^A-Za-z0-9\-._~/]/

/** Reserved characters that encodeURIComponent does not encode. */
const LEFT_BY_PLATFORM = /[!'()*]/g

/**
 * Percent-encodes text.
 * @param keepSlash whether `/` stays as it is (paths and keys) or becomes `%2F` (query components)
 * @throws URIError when text holds half of a surrogate pair
 */
export function encodeUri(text: string, keepSlash: boolean): string {
  if (needsNoEncoding(text, keepSlash)) return text
  const encoded = encodeURIComponent(text).replace(LEFT_BY_PLATFORM, encodeCharacter)
  return keepSlash ? encoded.replaceAll('%2F', '/') : encoded
}

/** Whether percent-encoding would leave the text as it is. */
export function needsNoEncoding(text: string, keepSlash: boolean): boolean {
  return !(keepSlash ? RESERVED_BUT_SLASH : RESERVED).test(text)
}

/**
 * Decodes every `%XX` exactly once; `+` stays a plus.
 * @returns undefined when an escape is malformed or the bytes are not UTF-8
 */
export function decodeUri(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Encodes one of the reserved characters, which are all above 0x0f. */
function encodeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
