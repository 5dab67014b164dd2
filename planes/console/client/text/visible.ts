/** Names of strangers, so that a reader sees what they hold. */

/** Controls, what turns the direction of text around, what has no width, and what ends a line. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u3164\ufffc]/u
const PARTS = new RegExp(`(${HIDDEN.source})`, 'u')

interface NamePart {
  readonly text: string
  /** The text is the number of a character that would not be seen, such as `U+202E`. */
  readonly escaped: boolean
}

/** The parts of a name, with every hidden character written out. */
export function visibleParts(name: string): NamePart[] {
  return name
    .split(PARTS)
    .filter((part) => part !== '')
    .map((part) => (HIDDEN.test(part) ? { text: numberOf(part), escaped: true } : { text: part, escaped: false }))
}

function numberOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** As one text, for titles and messages. */
export function visibleText(name: string): string {
  return visibleParts(name)
    .map(({ text, escaped }) => (escaped ? `<${text}>` : text))
    .join('')
}
