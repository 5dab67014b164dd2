/** Types of query parameters: schema and parser. */
import { type Microseconds, microsecondsOf } from '../../../engine/brands.ts'
import { invalid } from '../errors.ts'
import { parseRfc3339 } from '../requests/timestamps.ts'
import { form, oneOf, type Schema, TIME, text, whole } from './schema.ts'

export interface QueryType<T> {
  readonly schema: Schema
  /**
   * @param sent undefined if the parameter is absent
   * @throws ManagementError INVALID_REQUEST
   */
  readonly read: (sent: string | undefined, name: string) => T
}

function asSent(sent: string | undefined): string | undefined {
  return sent
}

export const queryText: QueryType<string | undefined> = { schema: text().schema, read: asSent }

/** Text of a documented form; the handler checks it. */
export function queryForm(expression: string): QueryType<string | undefined> {
  return { schema: form(expression).schema, read: asSent }
}

/** A whole number, by default of at least 0; `standard` if absent. */
export function queryNumber(
  standard: number,
  range: { readonly minimum?: number; readonly maximum?: number } = {},
): QueryType<number> {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = range
  return {
    schema: { ...whole(range).schema, default: standard },
    read(sent, name) {
      if (sent === undefined) return standard
      const value = /^\d{1,16}$/.test(sent) ? Number(sent) : Number.NaN
      if (value >= minimum && value <= maximum) return value
      throw invalid(name, `must be a whole number from ${minimum} to ${maximum}`)
    },
  }
}

/** A whole number of at least 1; undefined if absent. */
export const queryCount: QueryType<number | undefined> = {
  schema: whole({ minimum: 1 }).schema,
  read: (sent, name) => (sent === undefined ? undefined : queryNumber(1, { minimum: 1 }).read(sent, name)),
}

export const queryTime: QueryType<Microseconds | undefined> = {
  schema: TIME.schema,
  read(sent, name) {
    if (sent === undefined) return undefined
    const microseconds = parseRfc3339(sent)
    if (microseconds === undefined) throw invalid(name, 'must be a time as in RFC 3339, such as 2026-08-01T12:00:00Z')
    return microsecondsOf(microseconds)
  },
}

export function queryWord<W extends string>(...words: readonly W[]): QueryType<W | undefined> {
  const type = oneOf(...words)
  return { schema: type.schema, read: (sent, name) => (sent === undefined ? undefined : type.read(sent, name)) }
}

/** Filters of audit records by object, on either plane; each part also alone. */
export const OBJECT_QUERY = { bucket: queryText, key: queryText, key_prefix: queryText }
