import { isUtf8 } from 'node:buffer'
import { BodyTooLargeError } from '../http/exchange.ts'
import { invalid, ManagementError } from './errors.ts'
import type { ManagementRequest } from './management-request.ts'

/** Largest JSON body (specification, Limits). */
export const JSON_BYTES_MAXIMUM = 1024 ** 2

/** The members of a JSON object, by name; in a Map, since names come from strangers. */
export class JsonObject {
  readonly #field: string
  readonly #members: ReadonlyMap<string, unknown>

  /** `field`: what the object is, such as `quota.bytes`; `body` for the whole. */
  constructor(field: string, members: ReadonlyMap<string, unknown>) {
    this.#field = field
    this.#members = members
  }

  has(name: string): boolean {
    return this.#members.has(name)
  }

  get(name: string): unknown {
    return this.#members.get(name)
  }

  /** What a message calls a member. */
  path(name: string): string {
    return this.#field === BODY ? name : `${this.#field}.${name}`
  }
}

const BODY = 'body'

/**
 * The JSON object in the body of a request, an empty one when there is no body.
 * @param names members that it may have
 * @throws ManagementError BODY_TOO_LARGE, INVALID_REQUEST naming an unknown field
 */
export async function readJson(request: ManagementRequest, names: readonly string[]): Promise<JsonObject> {
  let bytes: Buffer
  try {
    bytes = await request.http.body.readAll(JSON_BYTES_MAXIMUM)
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw new ManagementError('BODY_TOO_LARGE')
    throw error
  }
  if (bytes.length === 0) return new JsonObject(BODY, new Map())
  return jsonObject(BODY, parse(bytes), names)
}

function parse(bytes: Buffer): unknown {
  try {
    if (!isUtf8(bytes)) throw new SyntaxError('not UTF-8')
    return JSON.parse(bytes.toString())
  } catch {
    throw invalid(BODY, 'is not JSON')
  }
}

/** Names come from strangers: an answer shows no more of one than this. */
const SHOWN_NAME_CHARACTERS = 64

/**
 * @param field what the value is, such as `statements[0]`
 * @throws ManagementError INVALID_REQUEST when the value is no object, or has a member of another name
 */
export function jsonObject(field: string, value: unknown, names: readonly string[]): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(field, 'must be an object')
  const members = new Map(Object.entries(value))
  const object = new JsonObject(field, members)
  for (const name of members.keys()) {
    if (!names.includes(name))
      throw invalid(object.path(name.slice(0, SHOWN_NAME_CHARACTERS)), 'there is no such field')
  }
  return object
}

/** How long a text or a list may be, or how large a number. */
export interface Bounds {
  readonly minimum: number
  readonly maximum: number
}

/** Half of a character, as JSON can write it: such a text cannot be stored as it is. */
const HALF_CHARACTER = /\p{Surrogate}/u
const CONTROL_CHARACTER = /\p{Control}/u

/** A text of so many UTF-16 units, control characters included. */
export function anyText(field: string, value: unknown, { minimum, maximum }: Bounds): string {
  if (typeof value !== 'string') throw invalid(field, 'must be a text')
  if (value.length < minimum || value.length > maximum) {
    throw invalid(field, `must have ${minimum} to ${maximum} characters`)
  }
  if (HALF_CHARACTER.test(value)) throw invalid(field, 'must be Unicode')
  return value
}

/** A list of so many items. */
export function anyList(field: string, value: unknown, { minimum, maximum }: Bounds): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(field, 'must be a list')
  if (value.length < minimum || value.length > maximum) throw invalid(field, `must have ${minimum} to ${maximum} items`)
  return value
}

/** The member of a name, whatever it is. */
export function requiredMember(members: JsonObject, name: string): unknown {
  const value = members.get(name)
  if (value === undefined) throw invalid(members.path(name), 'is missing')
  return value
}

/** A text member without control characters; undefined when it is absent. */
export function optionalText(members: JsonObject, name: string, bounds: Bounds): string | undefined {
  const value = members.get(name)
  if (value === undefined) return undefined
  const text = anyText(members.path(name), value, bounds)
  if (CONTROL_CHARACTER.test(text)) throw invalid(members.path(name), 'must not hold control characters')
  return text
}

export function requiredText(members: JsonObject, name: string, bounds: Bounds): string {
  requiredMember(members, name)
  return optionalText(members, name, bounds) as string
}

export function requiredBoolean(members: JsonObject, name: string): boolean {
  const value = requiredMember(members, name)
  if (typeof value !== 'boolean') throw invalid(members.path(name), 'must be true or false')
  return value
}

export function requiredInteger(members: JsonObject, name: string, { minimum, maximum }: Bounds): number {
  const value = requiredMember(members, name)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < minimum || value > maximum) {
    throw invalid(members.path(name), `must be a whole number from ${minimum} to ${maximum}`)
  }
  return value
}

export function optionalInteger(members: JsonObject, name: string, bounds: Bounds): number | undefined {
  return members.has(name) ? requiredInteger(members, name, bounds) : undefined
}
