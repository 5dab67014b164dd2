/**
 * XML 1.0 character by character, without what this service refuses anyway: declarations, comments, CDATA sections,
 * processing instructions, entities but the five. Undefined for what is not well-formed.
 */

export interface NaiveElement {
  /** Without namespace prefix. */
  readonly name: string
  /** All character data directly inside, references resolved. */
  readonly text: string
  /** Whether some of it is written as a reference. */
  readonly hasReferences: boolean
  readonly children: readonly NaiveElement[]
}

const NESTING_MAXIMUM = 10
const BLANKS = ' \t\r\n'
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** Every name that this service knows is ASCII. */
const NAME_START = /[A-Z_a-z]/
const NAME_REST = /[-.0-9]/

class NotWellFormedError extends Error {}

export function naiveXml(bytes: Buffer): NaiveElement | undefined {
  const text = bytes.toString()
  if (!Buffer.from(text).equals(bytes)) return undefined
  try {
    // A line ends with a line feed, however it was written (section 2.11).
    return new NaiveReader(text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')).document()
  } catch (error) {
    if (error instanceof NotWellFormedError) return undefined
    throw error
  }
}

class NaiveReader {
  readonly #text: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#text = [...text]
  }

  document(): NaiveElement {
    if (this.#sees('<?xml') && BLANKS.includes(this.#text[this.#at + 5] ?? 'x')) this.#declaration()
    this.#blanks()
    const element = this.#element(1)
    this.#blanks()
    this.#demand(this.#at === this.#text.length)
    return element
  }

  #declaration(): void {
    while (!this.#sees('?>')) {
      this.#demand(this.#at < this.#text.length && !this.#sees('>') && (this.#at === 0 || !this.#sees('<')))
      this.#character()
    }
    this.#at += 2
  }

  #element(depth: number): NaiveElement {
    this.#take('<')
    this.#demand(depth <= NESTING_MAXIMUM)
    const name = this.#name()
    const attributes = new Set<string>()
    for (let blank = this.#blanks(); !this.#sees('>') && !this.#sees('/>'); blank = this.#blanks()) {
      this.#demand(blank)
      const attribute = this.#attribute()
      this.#demand(!attributes.has(attribute))
      attributes.add(attribute)
    }
    const found = { name: name.split(':').at(-1) ?? '', text: '', hasReferences: false, children: [] as NaiveElement[] }
    if (this.#sees('/>')) {
      this.#at += 2
      return found
    }
    this.#take('>')
    while (!this.#sees('</')) {
      if (this.#sees('<')) found.children.push(this.#element(depth + 1))
      else {
        found.hasReferences ||= this.#sees('&')
        found.text += this.#characterData()
      }
    }
    this.#take('</')
    this.#demand(this.#name() === name)
    this.#blanks()
    this.#take('>')
    return found
  }

  #attribute(): string {
    // What namespaces demand of its colons is not looked at, since nothing that an attribute says is.
    const start = this.#at
    this.#demand(NAME_START.test(this.#text[start] ?? ''))
    while (isNameRest(this.#text[this.#at] ?? '')) this.#at += 1
    const name = this.#text.slice(start, this.#at).join('')
    this.#blanks()
    this.#take('=')
    this.#blanks()
    const quote = this.#text[this.#at] ?? ''
    this.#demand(quote === '"' || quote === "'")
    this.#at += 1
    while (!this.#sees(quote)) {
      this.#demand(!this.#sees('<'))
      this.#characterData()
    }
    this.#at += 1
    return name
  }

  /** A name with at most one prefix. */
  #name(): string {
    const start = this.#at
    let parts = 1
    for (let isFirst = true; ; isFirst = false) {
      const character = this.#text[this.#at] ?? ''
      if (character === ':' && !isFirst && parts === 1) {
        parts = 2
        this.#at += 1
        this.#demand(NAME_START.test(this.#text[this.#at] ?? ''))
      } else if (!NAME_START.test(character) && (isFirst || !NAME_REST.test(character))) break
      this.#at += 1
    }
    this.#demand(this.#at > start)
    return this.#text.slice(start, this.#at).join('')
  }

  /** One character, written out or as a reference. */
  #characterData(): string {
    // Where it stands for itself, in the value of an attribute, it is refused all the same.
    this.#demand(!this.#sees(']]>'))
    if (!this.#sees('&')) return this.#character()
    const end = this.#text.indexOf(';', this.#at)
    this.#demand(end !== -1 && end - this.#at < 12)
    const reference = this.#text.slice(this.#at + 1, end).join('')
    this.#at = end + 1
    if (!reference.startsWith('#')) {
      this.#demand(Object.hasOwn(NAMED, reference))
      return NAMED[reference] as string
    }
    const isHexadecimal = reference.startsWith('#x')
    const digits = reference.slice(isHexadecimal ? 2 : 1)
    this.#demand((isHexadecimal ? /^[0-9a-fA-F]{1,6}$/ : /^[0-9]{1,7}$/).test(digits))
    const code = Number.parseInt(digits, isHexadecimal ? 16 : 10)
    this.#demand(isCharacter(code))
    return String.fromCodePoint(code)
  }

  #character(): string {
    const character = this.#text[this.#at] ?? ''
    this.#demand(isCharacter(character.codePointAt(0) ?? 0))
    this.#at += 1
    return character
  }

  #blanks(): boolean {
    const start = this.#at
    while (this.#at < this.#text.length && BLANKS.includes(this.#text[this.#at] as string)) this.#at += 1
    return this.#at > start
  }

  #sees(piece: string): boolean {
    for (let index = 0; index < piece.length; index += 1)
      if (this.#text[this.#at + index] !== piece[index]) return false
    return true
  }

  #take(piece: string): void {
    this.#demand(this.#sees(piece))
    this.#at += piece.length
  }

  #demand(holds: boolean): void {
    if (!holds) throw new NotWellFormedError()
  }
}

function isNameRest(character: string): boolean {
  return character === ':' || NAME_START.test(character) || NAME_REST.test(character)
}

/** Production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 9 || code === 10 || code === 13
  return code < 0xd800 || (code > 0xdfff && code < 0xfffe) || (code > 0xffff && code <= 0x10ffff)
}
