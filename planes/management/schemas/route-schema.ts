import type { ManagementErrorCode } from '../errors.ts'
import type { Schema } from './schema.ts'

/** A body by its media types; none when the answer has no body. */
type Content = Readonly<Record<string, Schema>>

/** What the OpenAPI document says of a route beside its row in the route table. */
export interface RouteSchema {
  /** The JSON body. */
  readonly request?: Schema
  /** By the name of the parameter. One that is not here is any text. */
  readonly query?: Readonly<Record<string, Schema>>
  /** What it answers with, by the status. Errors have the envelope and are not here. */
  readonly answers: Readonly<Record<number, Content>>
  /** What it may refuse with, beside that which any route of its kind may. */
  readonly errors?: readonly ManagementErrorCode[]
}

/** Routes by `<METHOD> <path>`; a path of the versioned interface is written without its prefix. */
export type RouteSchemas = Readonly<Record<string, RouteSchema>>

type Extras = Omit<RouteSchema, 'answers'>

/** A route that answers with JSON. */
export function json(status: number, schema: Schema, extras: Extras = {}): RouteSchema {
  return { answers: { [status]: { 'application/json': schema } }, ...extras }
}

/** A route that has nothing to say when it is done. */
export function nothing(extras: Extras = {}): RouteSchema {
  return { answers: { 204: {} }, ...extras }
}

/** A route that answers with bytes of one of these media types. */
export function bytes(mediaTypes: readonly string[], extras: Extras = {}): RouteSchema {
  return { answers: { 200: Object.fromEntries(mediaTypes.map((type) => [type, {}])) }, ...extras }
}
