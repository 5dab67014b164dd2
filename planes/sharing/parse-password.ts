import { isUtf8 } from 'node:buffer'
import { PASSWORD_BYTES_MAXIMUM } from '../exchange/password-hashing.ts'
import { SharingError } from './errors.ts'

const FIELD = 'password'

/** Half of a surrogate pair, which `\ud800` in JSON can make and which has no bytes. */
const HALF = /\p{Cs}/u

/** By media type, how a body is read; undefined where it is not of that form. */
const READERS: ReadonlyMap<string, (text: string) => string | undefined> = new Map([
  ['application/json', ofJson],
  ['application/x-www-form-urlencoded', ofForm],
])

/**
 * The password in the body of an unlock: one field `password`, and nothing else.
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

function ofJson(text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value)
  const [name, password] = entries.length === 1 ? (entries[0] ?? []) : []
  return name === FIELD && typeof password === 'string' ? password : undefined
}

function ofForm(text: string): string | undefined {
  const fields = [...new URLSearchParams(text)]
  const [name, password] = fields.length === 1 ? (fields[0] ?? []) : []
  return name === FIELD ? password : undefined
}
