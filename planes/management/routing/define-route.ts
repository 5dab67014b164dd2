import { MANAGEMENT_ROLES, type ManagementRole } from '../../../engine/events/values.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import type { ManagementErrorCode } from '../errors.ts'
import type { ManagementRequest } from '../requests/management-request.ts'
import type { RouteCommand } from './route-command.ts'
import type { QueryType } from '../schemas/query.ts'
import type { Infer, Schema, Type } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'

type ManagementMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

/**
 * Who may use a route. `none`: everyone, without authentication; such a route is recorded only if it changes something.
 * `scrape-token`: requires the token in `metrics.scrape_token`.
 */
type RouteRoles = 'none' | 'scrape-token' | readonly ManagementRole[]

export const ADMINISTRATOR = ['system-administrator'] as const
export const ADMINISTRATORS = ['system-administrator', 'storage-administrator'] as const
export const SYSTEM_AND_AUDITOR = ['system-administrator', 'auditor'] as const
export const EVERYONE = MANAGEMENT_ROLES

/** Path prefix of the versioned interface. */
export const API = '/api/v1'
/** Paths outside the versioned interface. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics'])

/** Method and path, such as `GET /buckets/{bucket}`, without the prefix of the versioned interface. */
export type Pattern = `${ManagementMethod} /${string}`
type PartOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | PartOf<Rest> : never
export type Query = Readonly<Record<string, QueryType<unknown>>>

/** A body by its media types; none when the answer has no body. */
export type Content = Readonly<Record<string, Schema>>

export function json({ schema }: Type<unknown>): Content {
  return { 'application/json': schema }
}

/** Bytes of one of these media types. */
export function bytesOf(...mediaTypes: readonly string[]): Content {
  return Object.fromEntries(mediaTypes.map((type) => [type, {}]))
}

/** An answer without a body. */
export const NOTHING: Content = {}

/** A request as the handler of a route receives it, with the types that the route declares. */
export interface RouteRequest<P extends string, Q extends Query, B> extends ManagementRequest {
  readonly parameters: { readonly [Name in PartOf<P>]: string }
  query<N extends keyof Q & string>(name: N): Infer<Q[N]>
  body(): Promise<B>
}

interface RouteRecords {
  readonly operation: string
  readonly resource: (parts: Readonly<Record<string, string>>, services: ManagementServices) => string | undefined
}

interface RouteDefinition<P extends Pattern, Q extends Query, B> {
  /** `{name}` is one segment; `{key}` or `{tile}`, as the last part, is the rest of the path with its slashes. */
  readonly pattern: P
  readonly roles: RouteRoles
  /** One sentence for the OpenAPI document and the page of routes. */
  readonly summary: string
  /**
   * Operation and resource in its records, where they differ from `<METHOD> <route>` and the route (specification,
   * Audit event). The resource is made from the decoded named parts of the path; undefined: the route.
   */
  readonly records?: RouteRecords
  /** Whether it changes state; then attempt and outcome are both recorded. Default: true, except for GET. */
  readonly changes?: boolean
  /** The query parameters; any other is refused. */
  readonly query?: Q
  /** Description by lower-case name of each request header that it reads, except the headers every route reads. */
  readonly headers?: Readonly<Record<string, string>>
  /** The JSON body. */
  readonly request?: Type<B>
  /** The body is the raw bytes of an object, streamed. */
  readonly takesObject?: boolean
  /** The body is a text that the handler reads. */
  readonly takesText?: boolean
  /** Successful answers by status. Errors have an envelope of their own. */
  readonly answer: Readonly<Record<number, Content>>
  /** Its errors besides the common errors of its kind of route. */
  readonly errors?: readonly ManagementErrorCode[]
  readonly handle: (
    request: RouteRequest<P, Q, B>,
    services: ManagementServices,
  ) => HttpResponse | Promise<HttpResponse>
  /** The commands that send one request to it. */
  readonly command?: RouteCommand | readonly RouteCommand[]
}

/**
 * A route of the management listener as one value, from which router, roles, audit records, OpenAPI document, pages and
 * commands are made. HEAD is allowed wherever GET is, and gets the same answer without its body.
 */
export interface Route {
  readonly method: ManagementMethod
  /** With the prefix of the versioned interface. */
  readonly path: string
  readonly roles: RouteRoles
  readonly summary: string
  readonly records: RouteRecords | undefined
  readonly changes: boolean
  readonly query: Query
  readonly headers: Readonly<Record<string, string>>
  readonly body: 'none' | 'json' | 'text' | 'object'
  readonly request: Type<unknown> | undefined
  readonly answer: Readonly<Record<number, Content>>
  readonly errors: readonly ManagementErrorCode[]
  readonly commands: readonly RouteCommand[]
  /** A method, so that the types of the route's own request may be narrower. */
  handle(request: ManagementRequest, services: ManagementServices): HttpResponse | Promise<HttpResponse>
}

export function defineRoute<const P extends Pattern, const Q extends Query = {}, B = never>({
  pattern,
  takesObject = false,
  takesText = false,
  command = [],
  ...definition
}: RouteDefinition<P, Q, B>): Route {
  const [method, path] = pattern.split(' ') as [ManagementMethod, string]
  const ownBody = takesObject ? 'object' : takesText ? 'text' : undefined
  const body = ownBody ?? (definition.request === undefined ? 'none' : 'json')
  return {
    changes: method !== 'GET',
    query: {},
    headers: {},
    errors: [],
    request: undefined,
    records: undefined,
    ...definition,
    method,
    path: PROBES.has(path) ? path : `${API}${path}`,
    body,
    commands: [command].flat(),
  }
}

/** Whether its requests pass the gate and are recorded: all but open routes that change nothing. */
export function isRecorded({ roles, changes }: Pick<Route, 'roles' | 'changes'>): boolean {
  return typeof roles === 'object' || changes
}
