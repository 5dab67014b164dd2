/** Marks the end of a text that was cut. */
const CUT = '...'
/** No form of an answer writes a unit of UTF-16 in more bytes: `'` is `&apos;` in XML, a control character `\u0001` in JSON. */
const WRITTEN_BYTES_MAXIMUM = 6
/** A percent-escape without its end. */
const HALF_ESCAPE = /%[0-9A-Fa-f]?$/

/**
 * A text for an answer, in bounded space: as it is when the answer has at most `bytesMaximum` bytes for it, as UTF-8 and
 * escaped; of a longer one the first whole characters that fit, and `...`. The cost has the same bound.
 * @param write what the answer escapes it with
 */
export function cutText(text: string, bytesMaximum: number, write: (text: string) => string): string {
  if (text.length * WRITTEN_BYTES_MAXIMUM <= bytesMaximum) return text
  // Every unit takes a byte at least.
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
