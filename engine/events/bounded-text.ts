import { createHash } from 'node:crypto'

/** Bytes kept of a text that is cut. */
const PREFIX_BYTES = 256

/**
 * A text for a record, in bounded space: unchanged up to `bytesMaximum` bytes of UTF-8. A longer text becomes its first
 * 256 bytes at most (never half a character, never more than `bytesMaximum`) and its SHA-256, which identifies the full
 * text.
 */
export function boundedText(text: string, bytesMaximum: number): string {
  // A character has at most 3 bytes for each unit of its UTF-16, so most texts need no counting.
  if (text.length * 3 <= bytesMaximum) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMaximum) return text
  let end = Math.min(PREFIX_BYTES, bytesMaximum)
  while (isContinuation(bytes[end] as number)) end -= 1
  const digest = createHash('sha256').update(bytes).digest('hex')
  return `${bytes.toString('utf8', 0, end)}... sha256:${digest}`
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0
}
