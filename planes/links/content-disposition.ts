/** Content-Disposition, which names a file for a browser: RFC 6266 with the encoding of RFC 8187. */

/** Longest name in bytes of UTF-8, as file systems have it. */
const NAME_BYTES_MAXIMUM = 255
const FALLBACK = 'download'
/**
 * What a name may not have: control characters, halves of characters, what separates folders, and what changes the order in which text is shown, by
 * which `exe.gpj` can look like a picture.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}/\\\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** Dots at the start hide a file, and with nothing else name a folder. */
const LEADING_DOTS = /^[.\s]+/
const TRAILING_BLANKS = /\s+$/
/** What a quoted string says the same to every browser: not `"`, `\` and `%`, which some decode. */
const NOT_PLAIN = /[^\x20\x21\x23\x24\x26-\x5b\x5d-\x7e]/gu
/** Left as they are by `encodeURIComponent` and no `attr-char`. */
const NOT_ATTRIBUTE = /['()*]/g

/** A name that is safe in a file system and a page: the share's file name, or else the last segment of the key. */
export function fileNameOf(key: string, fileName: string | undefined): string {
  const name = fileName ?? key.slice(key.lastIndexOf('/', key.length - 2) + 1)
  const safe = name.replaceAll(UNSAFE, '').replace(LEADING_DOTS, '').replace(TRAILING_BLANKS, '')
  return shortened(safe) || FALLBACK
}

/** Cut in front of its ending, which tells the type. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES_MAXIMUM) return name
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 16 ? name.slice(dot) : ''
  let kept = ''
  let bytes = Buffer.byteLength(ending)
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > NAME_BYTES_MAXIMUM) break
    kept += character
  }
  return kept + ending
}

/** The value of Content-Disposition. @param name as `fileNameOf` gives it */
export function contentDisposition(kind: 'attachment' | 'inline', name: string): string {
  const plain = name.replaceAll(NOT_PLAIN, '_')
  const quoted = `${kind}; filename="${plain}"`
  return plain === name ? quoted : `${quoted}; filename*=UTF-8''${extended(name)}`
}

function extended(name: string): string {
  return encodeURIComponent(name).replaceAll(NOT_ATTRIBUTE, percentEscaped)
}

function percentEscaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
