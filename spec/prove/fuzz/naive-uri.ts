/** Percent encoding byte by byte (RFC 3986), as SigV4 wants it. */

const HEX = '0123456789ABCDEF'
const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'

/** Decodes every escape once; undefined for a malformed one, and for bytes that are not UTF-8. */
export function naiveDecode(text: string): string | undefined {
  const bytes: number[] = []
  for (const part of text.split(/(%..)/s)) {
    if (!part.includes('%')) {
      bytes.push(...Buffer.from(part))
      continue
    }
    const digits = part.slice(1).toUpperCase()
    const [high, low] = [HEX.indexOf(digits.charAt(0)), HEX.indexOf(digits.charAt(1))]
    if (part.length !== 3 || digits.length !== 2 || high < 0 || low < 0) return undefined
    bytes.push(high * 16 + low)
  }
  const decoded = Buffer.from(bytes)
  return Buffer.from(decoded.toString()).equals(decoded) ? decoded.toString() : undefined
}

export function naiveEncode(text: string, keepSlash: boolean): string {
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte)
    const stays = UNRESERVED.includes(character) || (keepSlash && character === '/')
    encoded += stays ? character : `%${HEX.charAt(byte >> 4)}${HEX.charAt(byte & 15)}`
  }
  return encoded
}

/** The parameters of a query, decoded, in their order. */
export function naiveParameters(query: string): (readonly [string, string])[] | undefined {
  const found: (readonly [string, string])[] = []
  for (const piece of query.split('&')) {
    if (piece === '') continue
    const [name = '', ...rest] = piece.split('=')
    const decoded = [name, rest.join('=')].map((text) => naiveDecode(text.split('+').join(' ')))
    if (decoded[0] === undefined || decoded[1] === undefined) return undefined
    found.push([decoded[0], decoded[1]])
  }
  return found
}

/** The canonical query of SigV4: sorted by the bytes of the encoded name, then of the encoded value. */
export function naiveCanonicalQuery(parameters: readonly (readonly [string, string])[]): string {
  const pairs = parameters
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [Buffer.from(naiveEncode(name, false)), Buffer.from(naiveEncode(value, false))] as const)
  pairs.sort((left, right) => left[0].compare(right[0]) || left[1].compare(right[1]))
  return pairs.map(([name, value]) => `${name.toString()}=${value.toString()}`).join('&')
}
