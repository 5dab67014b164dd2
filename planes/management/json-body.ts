import { isUtf8 } from 'node:buffer'
import { BodyTooLargeError } from '../http/exchange.ts'
import { invalid, ManagementError } from './errors.ts'
import type { ManagementRequest } from './management-request.ts'

/** Largest JSON body (specification, Limits). */
export const JSON_BYTES_MAXIMUM = 1024 ** 2

/** The members of a JSON object, by name; a Map, since names come from strangers. */
export type JsonObject = ReadonlyMap<string, unknown>

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
  if (bytes.length === 0) return new Map()
  return jsonObject('body', parse(bytes), names)
}

function parse(bytes: Buffer): unknown {
  try {
    if (!isUtf8(bytes)) throw new SyntaxError('not UTF-8')
    return JSON.parse(bytes.toString())
  } catch {
    throw invalid('body', 'is not JSON')
  }
}

/** @throws ManagementError INVALID_REQUEST when the value is no object, or has a member of another name */
export function jsonObject(field: string, value: unknown, names: readonly string[]): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(field, 'must be an object')
  const members = new Map(Object.entries(value))
  for (const name of members.keys()) if (!names.includes(name)) throw invalid(name, 'there is no such field')
  return members
}

/** A text member; undefined when it is absent. Lengths are characters. */
export function optionalText(
  members: JsonObject,
  name: string,
  bounds: { readonly minimum: number; readonly maximum: number },
): string | undefined {
  const value = members.get(name)
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw invalid(name, 'must be a text')
  if (value.length < bounds.minimum || value.length > bounds.maximum) {
    throw invalid(name, `must have ${bounds.minimum} to ${bounds.maximum} characters`)
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(value)) throw invalid(name, 'must not hold control characters')
  return value
}

export function requiredText(
  members: JsonObject,
  name: string,
  bounds: { readonly minimum: number; readonly maximum: number },
): string {
  const value = optionalText(members, name, bounds)
  if (value === undefined) throw invalid(name, 'is missing')
  return value
}

export function requiredBoolean(members: JsonObject, name: string): boolean {
  const value = members.get(name)
  if (value === undefined) throw invalid(name, 'is missing')
  if (typeof value !== 'boolean') throw invalid(name, 'must be true or false')
  return value
}

export function requiredInteger(
  members: JsonObject,
  name: string,
  bounds: { readonly minimum: number; readonly maximum: number },
): number {
  const value = members.get(name)
  if (value === undefined) throw invalid(name, 'is missing')
  if (!Number.isSafeInteger(value) || (value as number) < bounds.minimum || (value as number) > bounds.maximum) {
    throw invalid(name, `must be a whole number from ${bounds.minimum} to ${bounds.maximum}`)
  }
  return value as number
}
