import { endOfString } from '../../../engine/proof/strict-json.ts'
import { invalid } from '../errors.ts'
import { BODY, SHOWN_NAME_CHARACTERS } from '../schemas/schema.ts'

/** Far above the nesting of any route's body; bounds memory. */
const NESTING_MAXIMUM = 32
const COLON = /[ \t\n\r]*:/y

/**
 * Refuses a text in which an object has the same member twice, at any depth. Parsers disagree about which one counts
 * (RFC 8259, 4), so a proxy that checked the text may have read another value.
 * @param text JSON
 * @throws ManagementError INVALID_REQUEST naming the member
 */
export function refuseRepeatedMembers(text: string): void {
  /** Names of each object that is open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '{' || character === '[') {
      if (open.length === NESTING_MAXIMUM) throw invalid(BODY, 'is nested too deeply')
      open.push(character === '{' ? new Set() : undefined)
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === '"') {
      const end = endOfString(text, at)
      COLON.lastIndex = end
      // Only a name is followed by a colon. Escapes are decoded: "\u006eame" is "name".
      if (COLON.test(text)) note(open.at(-1), JSON.parse(text.slice(at, end)) as string)
      at = end - 1
    }
  }
}

function note(names: Set<string> | undefined, name: string): void {
  if (names?.has(name) === true) throw invalid(name.slice(0, SHOWN_NAME_CHARACTERS), 'occurs more than once')
  names?.add(name)
}
