/** Secrets that must come out nowhere, in every spelling in which they could. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const SIGNATURE = /[0-9a-f]{64}/g
/** Of base64 the outermost characters depend on what stands beside. */
const BASE64_MARGIN = 4

export class Canaries {
  /** Name by spelling. */
  readonly #spellings = new Map<string, string>()
  readonly #signatures = new Set<string>()

  add(name: string, secret: string): void {
    const bytes = Buffer.from(secret)
    this.#spell(name, secret)
    this.#spell(`${name} in hex`, bytes.toString('hex'))
    this.#spell(`${name} in a URL`, encodeURIComponent(secret))
    this.#spellBase64(name, bytes)
  }

  /** A key of bytes. */
  addBytes(name: string, bytes: Buffer): void {
    this.#spell(`${name} in bytes`, bytes.toString('latin1'))
    this.#spell(`${name} in hex`, bytes.toString('hex'))
    this.#spellBase64(name, bytes)
  }

  addSignature(hex: string): void {
    this.#signatures.add(hex)
  }

  get signatures(): number {
    return this.#signatures.size
  }

  /**
   * What of all this stands in a text, by name.
   * @param text one byte a character
   */
  findIn(text: string): string | undefined {
    for (const [spelling, name] of this.#spellings) if (text.includes(spelling)) return name
    for (const [hex] of text.matchAll(SIGNATURE)) if (this.#signatures.has(hex)) return 'a signature'
    return undefined
  }

  /** What stands in a file below a directory: the path of the file and the name of the secret. */
  *findBelow(directory: string): Generator<readonly [path: string, name: string]> {
    for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const found = this.findIn(readFileSync(path, 'latin1'))
      if (found !== undefined) yield [path, found]
    }
  }

  #spell(name: string, spelling: string): void {
    // Some spellings are one and the same; the plainest names it.
    if (!this.#spellings.has(spelling)) this.#spellings.set(spelling, name)
  }

  /** The three spellings that base64 has for bytes in the middle of others. */
  #spellBase64(name: string, bytes: Buffer): void {
    for (const shift of [0, 1, 2]) {
      const text = Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .replaceAll('=', '')
      this.#spell(`${name} in base64`, text.slice(shift === 0 ? 0 : BASE64_MARGIN, -BASE64_MARGIN))
    }
  }
}
