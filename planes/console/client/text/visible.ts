/** Shows names chosen by others with their hidden characters. */

/** Controls, characters that change the direction of text, characters without width, and line ends. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u3164\ufffc]/u
const PARTS = new RegExp(`(${HIDDEN.source})`, 'u')

interface NamePart {
  readonly text: string
  /** Whether the text is the number of a hidden character, such as `U+202E`. */
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

/** The name as one text with hidden characters written out, for titles and messages. */
export function visibleText(name: string): string {
  return visibleParts(name)
    .map(({ text, escaped }) => (escaped ? `<${text}>` : text))
    .join('')
}
