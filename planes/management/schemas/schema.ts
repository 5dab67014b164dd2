/**
 * The part of JSON Schema (draft 2020-12, which OpenAPI 3.1 takes) that describes the bodies of this interface. Objects
 * have the members that are named and no others.
 */

type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'

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
  readonly format?: 'date-time'
  readonly anyOf?: readonly Schema[]
  readonly description?: string
}

/** Bounds of a length or a number; what is left out is unbounded. */
interface Range {
  readonly minimum?: number
  readonly maximum?: number
}

export function object(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  }
}

/** An object whose members have names of their own. */
export function mapOf(additionalProperties: Schema): Schema {
  return { type: 'object', additionalProperties }
}

export function listOf(items: Schema, { minimum, maximum }: Range = {}): Schema {
  return {
    type: 'array',
    items,
    ...(minimum === undefined ? {} : { minItems: minimum }),
    ...(maximum === undefined ? {} : { maxItems: maximum }),
  }
}

export function text({ minimum, maximum }: Range = {}): Schema {
  return {
    type: 'string',
    ...(minimum === undefined ? {} : { minLength: minimum }),
    ...(maximum === undefined ? {} : { maxLength: maximum }),
  }
}

/** A text of a fixed form; the expression fits the whole of it. */
export function form(expression: string): Schema {
  return { type: 'string', pattern: `^${expression}$` }
}

export function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values }
}

/** A whole number, from 0 on unless told otherwise. */
export function whole({ minimum = 0, maximum }: Range = {}): Schema {
  return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) }
}

export const NUMBER: Schema = { type: 'number' }
export const FLAG: Schema = { type: 'boolean' }
/** RFC 3339, in UTC. */
export const TIME: Schema = { type: 'string', format: 'date-time' }
/** SHA-256 in lower-case hexadecimal digits. */
export const SHA256: Schema = form('[0-9a-f]{64}')

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] }
}
