/** The bytes are not JSON that all readers parse alike. The message has the reason. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError'
}

const NUMBERS = /[-\d][-+.\w]*/g
const WHOLE_NUMBER = /^(?:0|[1-9]\d*)$/
const AFTER_A_NAME = /^[ \t\n\r]*:/
const LONE_SURROGATE = /\p{Surrogate}/u
const BACKSLASH = 0x5c

/**
 * Parses JSON (RFC 8259) and refuses forms that readers disagree about: bytes that are not UTF-8, a byte order mark, a
 * repeated member, numbers that are negative, not whole, or 2^53 and above, and strings without a UTF-8 form. So every
 * program shows a bundle as it was verified.
 * @throws StrictJsonError
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string
  let value: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    value = JSON.parse(text)
  } catch {
    throw new StrictJsonError('it is not JSON in UTF-8')
  }
  if (countWrittenNames(text) !== countNames(value)) throw new StrictJsonError('a member occurs twice')
  return value
}

/** Counts the names of members in a text that is JSON. It also checks the numbers: parsing loses how they are written. */
function countWrittenNames(text: string): number {
  let names = 0
  let at = 0
  while (at < text.length) {
    const quote = text.indexOf('"', at)
    const between = text.slice(at, quote === -1 ? text.length : quote)
    if (at > 0 && AFTER_A_NAME.test(between)) names += 1
    for (const [number] of between.matchAll(NUMBERS)) {
      if (!WHOLE_NUMBER.test(number)) throw new StrictJsonError(`${number.slice(0, 40)} is not a whole number`)
    }
    if (quote === -1) break
    at = endOfString(text, quote)
  }
  return names
}

/** End of the string whose quote is at `start`: after the next quote with an even number of backslashes before it. */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
}

/** Counts the names of members in a value, and checks every text and number. */
function countNames(root: unknown): number {
  let names = 0
  // Not recursive: nesting has no limit.
  const left: unknown[] = [root]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') requireUnicode(value)
    if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new StrictJsonError('a number is too large')
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (!Array.isArray(value)) {
        requireUnicode(name)
        names += 1
      }
      left.push(member)
    }
  }
  return names
}

function requireUnicode(text: string): void {
  if (LONE_SURROGATE.test(text)) throw new StrictJsonError('a text has half of a surrogate pair')
}
