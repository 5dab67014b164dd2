/**
 * Percent encoding as AWS signatures and `encoding-type=url` want it: the unreserved characters of RFC 3986 stay, each
 * other byte of the UTF-8 form becomes `%XX` with upper-case digits.
 */

const RESERVED = /[^A-Za-z0-9\-._~]/
const RESERVED_BUT_SLASH = /[^A-Za-z0-9\-._~/]/

/** What encodeURIComponent leaves alone although it is reserved. */
const LEFT_BY_PLATFORM = /[!'()*]/g

/**
 * Percent-encodes text or raw bytes.
 * @param keepSlash whether `/` stays as it is (paths and keys) or becomes `%2F` (query components)
 * @throws URIError when text holds half of a surrogate pair
 */
export function encodeUri(value: string | Buffer, keepSlash: boolean): string {
  if (typeof value !== 'string') return encodeBytes(value, keepSlash)
  if (!(keepSlash ? RESERVED_BUT_SLASH : RESERVED).test(value)) return value
  const encoded = encodeURIComponent(value).replace(LEFT_BY_PLATFORM, encodeCharacter)
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

function encodeBytes(bytes: Buffer, keepSlash: boolean): string {
  let encoded = ''
  for (const byte of bytes) {
    const character = String.fromCharCode(byte)
    const stays = (keepSlash && character === '/') || !RESERVED.test(character)
    encoded += stays ? character : encodeByte(byte)
  }
  return encoded
}

function encodeCharacter(character: string): string {
  return encodeByte(character.charCodeAt(0))
}

function encodeByte(byte: number): string {
  return `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`
}
