import type { AuditContext, Pairs } from '../../engine/events/audit.ts'
import type { HttpRequest } from '../http/exchange.ts'
import type { ManagementIdentity } from './authenticate.ts'
import type { ManagementRoute } from './route-table.ts'

/** How much of a request is in the journal already; see the same type of the S3 plane. */
export type Journaled =
  | { readonly kind: 'nothing' }
  /** An attempt, by its sequence. */
  | { readonly kind: 'attempt'; readonly sequence: number }
  | { readonly kind: 'outcome' }

/** An authenticated request for a route that its role may use, as a handler receives it. */
export interface ManagementRequest {
  readonly http: HttpRequest
  readonly route: ManagementRoute
  readonly identity: ManagementIdentity
  readonly requestId: string
  /** Decoded values of the `{name}` parts of the path. */
  readonly parameters: ReadonlyMap<string, string>
  /** Decoded query parameters, each at most once, all of them names that the route takes. */
  readonly query: ReadonlyMap<string, string>
  /** Handlers that change something set this as they put records into the journal. */
  journaled: Journaled
}

/** Value of a part of the path that the route has. */
export function pathParameter(request: ManagementRequest, name: string): string {
  const value = request.parameters.get(name)
  if (value === undefined) throw new Error(`${request.route.path} has no part ${name}`)
  return value
}

/**
 * What the audit records of a request say: operation `<METHOD> <route>`, resource the route (specification, Audit
 * event). What the route was asked about stands in the metadata, by the names of the route's parts.
 */
export function auditOf(request: ManagementRequest, details: Pairs = []): AuditContext {
  const { http, route, identity, requestId, parameters } = request
  return {
    principal: `management:${identity.role}`,
    credentialId: identity.credentialId,
    sourceAddress: http.remoteAddress,
    requestId,
    operation: `${route.method} ${route.path}`,
    resource: route.path,
    metadata: [...[...parameters].flat(), ...details],
  }
}
