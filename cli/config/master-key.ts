const KEY_BYTES = 32
const HEXADECIMAL = /^[0-9a-fA-F]{64}$/
const BASE64 = /^[A-Za-z0-9+/]{43}=$/

/**
 * Decodes a credential master key: 64 hexadecimal digits, or the base64 of exactly 32 bytes.
 * @returns the 32 bytes; undefined if the text is neither
 */
export function decodeMasterKey(text: string): Buffer | undefined {
  if (HEXADECIMAL.test(text)) return Buffer.from(text, 'hex')
  if (!BASE64.test(text)) return undefined
  const key = Buffer.from(text, 'base64')
  // Node skips invalid characters and ignores stray bits in the last digit; two texts must never mean the same key.
  return key.length === KEY_BYTES && key.toString('base64') === text ? key : undefined
}
