/** Marks the end of a text that was cut. */
const CUT = '...'
/**
 * Maximum bytes per UTF-16 unit in any form of answer: `'` is `&apos;` in XML, a control character `\u0001` in JSON.
 */
const WRITTEN_BYTES_MAXIMUM = 6
/** A percent-escape without its end. */
const HALF_ESCAPE = /%[0-9A-Fa-f]?$/

/**
 * Bounds a text for an answer: returns it unchanged if it takes at most `bytesMaximum` bytes, escaped and in UTF-8;
 * otherwise the first whole characters that fit, and `...`. The cost is bounded too.
 * @param write escapes the text for the answer
 */
export function cutText(text: string, bytesMaximum: number, write: (text: string) => string): string {
  if (text.length * WRITTEN_BYTES_MAXIMUM <= bytesMaximum) return text
  // Every unit takes at least one byte.
  const start = text.slice(0, bytesMaximum)
  if (start.length === text.length && Buffer.byteLength(write(text)) <= bytesMaximum) return text
  let room = bytesMaximum - CUT.length
  let end = 0
  for (const character of start) {
    room -= Buffer.byteLength(write(character))
    if (room < 0) break
    end += character.length
  }
  return start.slice(0, end).replace(HALF_ESCAPE, '') + CUT
}
