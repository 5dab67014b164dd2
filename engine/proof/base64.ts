const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES = new Uint8Array(128)
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value

/** The bytes of a text that is known to be base64 with padding; browsers and Node.js share no decoder. */
export function base64Bytes(text: string): Uint8Array {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  for (let at = 0, to = 0; at < text.length; at += 4, to += 3) {
    let group = 0
    for (let digit = at; digit < at + 4; digit += 1) group = (group << 6) | (VALUES[text.charCodeAt(digit)] ?? 0)
    bytes[to] = group >> 16
    bytes[to + 1] = group >> 8
    bytes[to + 2] = group
  }
  return bytes
}
