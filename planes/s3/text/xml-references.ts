/**
 * References in XML: five named ones, and numbers of characters; others would need a declaration. A document may
 * contain hundreds of thousands of references, so they are parsed without regular expressions and callbacks.
 */

import { malformedXml } from '../errors/s3-errors.ts'

/** Named references and their code points. The quote is first, because ETags contain it. */
const NAMED = [
  ['quot;', 0x22],
  ['amp;', 0x26],
  ['apos;', 0x27],
  ['lt;', 0x3c],
  ['gt;', 0x3e],
] as const

/** Maximum distance from `&` to `;`: the last character is `&#1114111;` or `&#x10ffff;`. */
const DISTANCE_MAXIMUM = 9
const CODE_POINT_MAXIMUM = 0x10_ff_ff
const CODE = { hash: 35, zero: 48, x: 120 } as const

/**
 * The text with its references resolved.
 * @throws S3Error MalformedXML (a reference to anything but a character that XML knows)
 */
export function resolveReferences(text: string): string {
  let at = text.indexOf('&')
  if (at === -1) return text
  let resolved = ''
  let from = 0
  while (at !== -1) {
    const end = text.indexOf(';', at)
    if (at > from) resolved += text.slice(from, at)
    resolved += String.fromCodePoint(codeOf(text, at, end))
    from = end + 1
    at = text.indexOf('&', from)
  }
  return resolved + text.slice(from)
}

/**
 * Refuses what `resolveReferences` refuses.
 * @throws S3Error MalformedXML
 */
export function checkReferences(text: string): void {
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) codeOf(text, at, text.indexOf(';', at))
}

/** The code point of the reference from `&` at `at` to `;` at `end`, which is -1 without a `;`. */
function codeOf(text: string, at: number, end: number): number {
  const code = end === -1 || end - at > DISTANCE_MAXIMUM ? undefined : codeAt(text, at + 1, end)
  if (code === undefined) throw malformedXml('There is a reference to an unknown entity.')
  if (!isCharacter(code)) throw malformedXml('There is a reference to a character that XML does not know.')
  return code
}

function codeAt(text: string, from: number, end: number): number | undefined {
  if (text.charCodeAt(from) !== CODE.hash) {
    for (const [name, code] of NAMED) if (text.startsWith(name, from)) return code
    return undefined
  }
  const isHexadecimal = text.charCodeAt(from + 1) === CODE.x
  return numberAt(text, from + (isHexadecimal ? 2 : 1), end, isHexadecimal ? 16 : 10)
}

function numberAt(text: string, from: number, end: number, radix: 10 | 16): number | undefined {
  if (from === end) return undefined
  let number = 0
  for (let at = from; at < end; at += 1) {
    const digit = digitOf(text.charCodeAt(at))
    if (digit >= radix) return undefined
    number = number * radix + digit
  }
  return number
}

/** Value of a hexadecimal digit by its code; Infinity for any other character. */
function digitOf(code: number): number {
  if (code >= CODE.zero && code < CODE.zero + 10) return code - CODE.zero
  const letter = (code | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : Infinity
}

/** Whether an XML 1.0 document may hold the character (section 2.2). */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d
  if (code >= 0xd800 && code < 0xe000) return false
  return code !== 0xfffe && code !== 0xffff && code <= CODE_POINT_MAXIMUM
}
