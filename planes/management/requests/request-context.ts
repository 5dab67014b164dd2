import type { AuditContext } from '../../../engine/events/audit.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import type { ManagementIdentity } from '../access/authenticate.ts'
import type { FoundRoute } from '../routing/router.ts'
import type { ManagementServices } from '../services.ts'
import { decodedParts, targetOf } from './request-target.ts'

/** The resource of a request in records: the route, or the target that the route names. */
export function resourceOf(found: FoundRoute, services: ManagementServices): string {
  const { path, records } = found.route
  return records?.resource(decodedParts(found), services) ?? path
}

/**
 * The audit context of a request: operation `<METHOD> <route>` and resource, unless the route defines others
 * (specification, Audit event), and its target as metadata. It is the same for refused requests.
 */
export function auditContext(
  http: HttpRequest,
  found: FoundRoute,
  identity: ManagementIdentity | undefined,
  requestId: string,
  resource: string,
): AuditContext {
  const { method, path, records } = found.route
  return {
    principal: `management:${identity?.role ?? 'unauthenticated'}`,
    credentialId: identity?.credentialId,
    sourceAddress: http.remoteAddress,
    requestId,
    operation: records?.operation ?? `${method} ${path}`,
    resource,
    metadata: targetOf(found, http.query),
  }
}
