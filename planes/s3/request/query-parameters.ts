/**
 * The query of a request, split and decoded once, in order, with repeats. Not an object, since clients choose names.
 */

import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { decodeUri, encodeUri } from '../text/uri-encoding.ts'

export type QueryParameter = readonly [name: string, value: string]

const SIGNATURE_PARAMETER = 'X-Amz-Signature'

export class QueryParameters {
  /** Decoded names and values in the order received. */
  readonly entries: readonly QueryParameter[]
  #canonical: string | undefined

  constructor(entries: readonly QueryParameter[]) {
    this.entries = entries
  }

  has(name: string): boolean {
    for (const entry of this.entries) if (entry[0] === name) return true
    return false
  }

  /** The first value of a name; the empty string when it comes without `=`. */
  first(name: string): string | undefined {
    for (const entry of this.entries) if (entry[0] === name) return entry[1]
    return undefined
  }

  /**
   * The canonical query string of SigV4: encoded names and values, sorted by name, then value, without
   * X-Amz-Signature.
   */
  canonical(): string {
    this.#canonical ??= canonicalQuery(this.entries)
    return this.#canonical
  }
}

/** Far more than any operation has. Bounded, because each is decoded and sorted before authentication. */
const PARAMETERS_MAXIMUM = 100

export const NO_PARAMETERS = new QueryParameters([])

/**
 * Parses a raw query without its `?`. A literal `+` is a space; `?acl` is `acl` with an empty value; empty pieces
 * between two `&` are skipped.
 * @throws S3Error InvalidURI on a malformed percent escape or bytes that are not UTF-8, and InvalidArgument for more
 *   than 100 parameters
 */
export function parseQuery(raw: string): QueryParameters {
  if (raw === '') return NO_PARAMETERS
  const entries: QueryParameter[] = []
  for (const piece of raw.split('&')) {
    if (piece === '') continue
    if (entries.length === PARAMETERS_MAXIMUM) {
      throw new S3Error('InvalidArgument', { message: `A request has at most ${PARAMETERS_MAXIMUM} query parameters.` })
    }
    const equals = piece.indexOf('=')
    if (equals === -1) entries.push([decode(piece), ''])
    else entries.push([decode(piece.slice(0, equals)), decode(piece.slice(equals + 1))])
  }
  return new QueryParameters(entries)
}

/**
 * Refuses repeated parameters. SigV4 signs repeats in the order of their values, so they could be swapped under a valid
 * signature, and only the first would be read.
 * @param except names whose repeats mean the same in any order
 * @throws S3Error InvalidArgument
 */
export function refuseRepeats({ entries }: QueryParameters, except: readonly string[] = []): void {
  if (entries.length < 2) return
  const seen = new Set<string>()
  for (const [name, value] of entries) {
    if (seen.has(name) && !except.includes(name))
      throw invalidArgument(name, value, `The query parameter ${name} occurs more than once.`)
    seen.add(name)
  }
}

/** Encodes and sorts parameters as SigV4 does. Encoded text is ASCII, so comparing code units compares bytes. */
export function canonicalQuery(entries: readonly QueryParameter[]): string {
  const encoded: [name: string, value: string][] = []
  for (const [name, value] of entries) {
    if (name !== SIGNATURE_PARAMETER) encoded.push([encodeUri(name, false), encodeUri(value, false)])
  }
  encoded.sort((left, right) => compare(left[0], right[0]) || compare(left[1], right[1]))
  let text = ''
  for (const [name, value] of encoded) text += text === '' ? `${name}=${value}` : `&${name}=${value}`
  return text
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function decode(text: string): string {
  const decoded = decodeUri(text.includes('+') ? text.replaceAll('+', ' ') : text)
  if (decoded === undefined) throw new S3Error('InvalidURI', { message: 'The query cannot be decoded.' })
  return decoded
}
