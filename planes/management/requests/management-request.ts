import type { AuditContext } from '../../../engine/events/audit.ts'
import type { RequestJournal } from '../../exchange/request-journal.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import type { ManagementError } from '../errors.ts'
import type { ManagementIdentity } from '../access/authenticate.ts'
import { decodedParts, targetOf } from './request-target.ts'
import type { FoundRoute } from '../router.ts'
import type { ManagementServices } from '../services.ts'

/** An authenticated request for a route that its role may use, as a handler receives it. */
export interface ManagementRequest {
  readonly http: HttpRequest
  readonly identity: ManagementIdentity
  /** Decoded values of the `{name}` parts of the path. */
  readonly parameters: Readonly<Record<string, string>>
  /**
   * A query parameter, as the route declares it.
   * @throws ManagementError INVALID_REQUEST
   */
  query(name: string): unknown
  /**
   * The JSON body, as the route declares it. May be called once.
   * @throws ManagementError BODY_TOO_LARGE, INVALID_REQUEST naming the field that is wrong
   */
  body(): Promise<unknown>
  /** Whether the credential of the request is still valid; checked during long answers. */
  readonly isAllowed: () => boolean
  /** The only way for a handler to change state. */
  readonly journal: RequestJournal
  /** Logs a server fault after the start of the answer, under the id of this request. */
  fault(error: unknown): ManagementError
}

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
