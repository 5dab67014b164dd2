import { isUtf8 } from 'node:buffer'
import { parseStrictJson } from '../../engine/proof/strict-json.ts'
import { PASSWORD_BYTES_MAXIMUM } from '../exchange/password-hashing.ts'
import { SharingError } from './errors.ts'

const FIELD = 'password'

/** Half of a surrogate pair, which `\ud800` in JSON can make and which has no bytes. */
const HALF = /\p{Cs}/u

/** Parsers of bodies by media type; they return undefined for a malformed body. */
const READERS: ReadonlyMap<string, (text: string) => string | undefined> = new Map([
  ['application/json', ofJson],
  ['application/x-www-form-urlencoded', ofForm],
])

/**
 * The password in the body of an unlock request: one field `password` and no other.
 * @throws SharingError UNSUPPORTED_TYPE, INVALID_REQUEST
 */
export function parsePassword(contentType: string | undefined, body: Buffer): string {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const read = READERS.get(type)
  if (read === undefined) throw new SharingError('UNSUPPORTED_TYPE')
  const password = isUtf8(body) ? read(body.toString()) : undefined
  if (password === undefined)
    throw new SharingError('INVALID_REQUEST', `The body must have one field, ${FIELD}, as text.`)
  if (password === '') throw new SharingError('INVALID_REQUEST', 'The password is empty.')
  if (Buffer.byteLength(password) > PASSWORD_BYTES_MAXIMUM || HALF.test(password)) {
    throw new SharingError('INVALID_REQUEST', `A password is text of at most ${PASSWORD_BYTES_MAXIMUM} bytes.`)
  }
  return password
}

/** A repeated field is refused: parsers disagree about which one counts (RFC 8259, 4). */
function ofJson(text: string): string | undefined {
  let value: unknown
  try {
    value = parseStrictJson(Buffer.from(text))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value)
  const [name, password] = entries.length === 1 ? (entries[0] ?? []) : []
  return name === FIELD && typeof password === 'string' ? password : undefined
}

function ofForm(text: string): string | undefined {
  const fields = text.split('&').filter((field) => field !== '')
  const [field = ''] = fields
  const equals = field.indexOf('=')
  if (fields.length !== 1 || equals === -1 || formText(field.slice(0, equals)) !== FIELD) return undefined
  return formText(field.slice(equals + 1))
}

const ESCAPES = /%([0-9a-f]{2})/gi

/**
 * The decoded text of a name or value in a form (URL standard, section 5.1); undefined when it is not UTF-8. Node's own
 * parser decodes a lone `%` next to unescaped characters differently.
 */
function formText(encoded: string): string | undefined {
  const bytes = Buffer.from(encoded.replaceAll('+', ' ')).toString('latin1')
  const decoded = bytes.replaceAll(ESCAPES, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  const text = Buffer.from(decoded, 'latin1')
  return isUtf8(text) ? text.toString() : undefined
}
