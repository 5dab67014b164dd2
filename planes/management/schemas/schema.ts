/**
 * The types of bodies of this interface. A type is a JSON Schema (draft 2020-12, as in OpenAPI 3.1) with a reader that
 * checks the value in a request. Objects have the named members and no others.
 */
import { invalid } from '../errors.ts'

type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'

/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: JsonType | readonly JsonType[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false | Schema
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly format?: 'date-time' | 'int64' | 'double' | 'binary'
  readonly default?: number
  readonly anyOf?: readonly Schema[]
  readonly description?: string
}

/** A type of JSON values. */
export interface Type<T> {
  readonly schema: Schema
  /**
   * Checks and returns the value.
   * @param field its name in messages, such as `quota.bytes`; `body` for the whole body
   * @throws ManagementError INVALID_REQUEST naming the invalid field
   */
  readonly read: (value: unknown, field: string) => T
}

/** The value that a type or a query parameter reads. */
export type Infer<R> = R extends { readonly read: (...values: never[]) => infer T } ? T : never

type Types = Readonly<Record<string, Type<unknown>>>
type ObjectOf<R extends Types, O extends Types> = { readonly [N in keyof R]: Infer<R[N]> } & {
  readonly [N in keyof O]?: Infer<O[N]>
}

/** Bounds of a length or a number; unbounded where absent. */
export interface Range {
  readonly minimum?: number
  readonly maximum?: number
}

/** Name of the whole body in messages. */
export const BODY = 'body'
/** Longest part of a client's member name that an answer repeats. */
export const SHOWN_NAME_CHARACTERS = 64
/** A lone surrogate, which JSON can write and UTF-8 cannot. */
const HALF_CHARACTER = /\p{Surrogate}/u
const CONTROL_CHARACTER = /\p{Control}/u

/** Name of a member in messages. */
export function memberOf(field: string, name: string): string {
  return field === BODY ? name : `${field}.${name}`
}

/**
 * The members of an object.
 * @throws ManagementError INVALID_REQUEST if the value is not an object or has another member
 */
export function readMembers(
  value: unknown,
  field: string,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(field, 'must be an object')
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue
    throw invalid(memberOf(field, name.slice(0, SHOWN_NAME_CHARACTERS)), 'unknown field')
  }
  return { ...value }
}

/** Text that may contain control characters. The length is in UTF-16 units. @throws ManagementError INVALID_REQUEST */
export function readText(value: unknown, field: string, { minimum = 0, maximum = Infinity }: Range): string {
  if (typeof value !== 'string') throw invalid(field, 'must be a string')
  if (value.length < minimum || value.length > maximum) {
    throw invalid(field, `must have ${minimum} to ${maximum} characters`)
  }
  if (HALF_CHARACTER.test(value)) throw invalid(field, 'must be Unicode')
  return value
}

/** A list of any items. @throws ManagementError INVALID_REQUEST */
export function readList(
  value: unknown,
  field: string,
  { minimum = 0, maximum = Infinity }: Range,
): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(field, 'must be a list')
  if (value.length < minimum || value.length > maximum) throw invalid(field, `must have ${minimum} to ${maximum} items`)
  return value
}

/** A type of answers only: documented, not checked. */
export function documented(schema: Schema): Type<unknown> {
  return { schema, read: (value) => value }
}

/** A type with a check that its schema cannot express. */
export function readAs<T>({ schema }: Type<unknown>, read: Type<T>['read']): Type<T> {
  return { schema, read }
}

export function object<R extends Types, O extends Types = Record<never, never>>(
  required: R,
  optional?: O,
): Type<ObjectOf<R, O>> {
  const types: Types = { ...required, ...optional }
  const names = Object.keys(types)
  const properties = Object.fromEntries(Object.entries(types).map(([name, { schema }]) => [name, schema]))
  return {
    schema: { type: 'object', properties, required: Object.keys(required), additionalProperties: false },
    read(value, field) {
      const members = readMembers(value, field, names)
      const found: Record<string, unknown> = {}
      for (const [name, type] of Object.entries(types)) {
        const member = members[name]
        if (member !== undefined) found[name] = type.read(member, memberOf(field, name))
        else if (name in required) throw invalid(memberOf(field, name), 'is missing')
      }
      return found as ObjectOf<R, O>
    },
  }
}

/** An object with arbitrary member names. */
export function mapOf({ schema }: Type<unknown>): Type<unknown> {
  return documented({ type: 'object', additionalProperties: schema })
}

export function listOf<T>(items: Type<T>, range: Range = {}): Type<T[]> {
  const { minimum, maximum } = range
  return {
    schema: {
      type: 'array',
      items: items.schema,
      ...(minimum === undefined ? {} : { minItems: minimum }),
      ...(maximum === undefined ? {} : { maxItems: maximum }),
    },
    read: (value, field) => readList(value, field, range).map((item, index) => items.read(item, `${field}[${index}]`)),
  }
}

/** Text without control characters. */
export function text(range: Range = {}): Type<string> {
  const { minimum, maximum } = range
  return {
    schema: {
      type: 'string',
      ...(minimum === undefined ? {} : { minLength: minimum }),
      ...(maximum === undefined ? {} : { maxLength: maximum }),
    },
    read(value, field) {
      const read = readText(value, field, range)
      if (CONTROL_CHARACTER.test(read)) throw invalid(field, 'must not hold control characters')
      return read
    },
  }
}

/** Text that matches the expression as a whole. */
export function form(expression: string): Type<unknown> {
  return documented({ type: 'string', pattern: `^${expression}$` })
}

export function oneOf<W extends string>(...words: readonly W[]): Type<W> {
  return {
    schema: { type: 'string', enum: words },
    read(value, field) {
      const word = words.find((known) => known === value)
      if (word === undefined) throw invalid(field, `must be one of ${words.join(', ')}`)
      return word
    },
  }
}

/** One of two words. A value that is not text of at most `maximum` characters is refused as such first. */
export function eitherOf<W extends string>(maximum: number, ...words: readonly [W, W]): Type<W> {
  const anyText = text({ minimum: 1, maximum })
  return readAs(oneOf(...words), (value, field) => {
    const sent = anyText.read(value, field)
    const word = words.find((known) => known === sent)
    if (word === undefined) throw invalid(field, `must be ${words.join(' or ')}`)
    return word
  })
}

/** A whole number, by default of at least 0. */
export function whole({ minimum = 0, maximum }: Range = {}): Type<number> {
  const most = maximum ?? Number.MAX_SAFE_INTEGER
  return {
    schema: { type: 'integer', format: 'int64', minimum, ...(maximum === undefined ? {} : { maximum }) },
    read(value, field) {
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum && value <= most) return value
      throw invalid(field, `must be a whole number from ${minimum} to ${most}`)
    },
  }
}

export const FLAG: Type<boolean> = {
  schema: { type: 'boolean' },
  read(value, field) {
    if (typeof value !== 'boolean') throw invalid(field, 'must be true or false')
    return value
  },
}

export const NUMBER = documented({ type: 'number', format: 'double' })
/** RFC 3339, in UTC. */
export const TIME = documented({ type: 'string', format: 'date-time' })
/** SHA-256 in lower-case hexadecimal digits. */
export const SHA256 = form('[0-9a-f]{64}')

export function orNull<T>({ schema, read }: Type<T>): Type<T | null> {
  return {
    schema: { anyOf: [schema, { type: 'null' }] },
    read: (value, field) => (value === null ? null : read(value, field)),
  }
}

/** One of several types; for answers only. */
export function anyOf(...types: readonly Type<unknown>[]): Type<unknown> {
  return documented({ anyOf: types.map(({ schema }) => schema) })
}
