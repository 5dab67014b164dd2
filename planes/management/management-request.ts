import type { AuditContext } from '../../engine/events/audit.ts'
import type { RequestJournal } from '../exchange/request-journal.ts'
import type { HttpRequest } from '../http/exchange.ts'
import type { ManagementError } from './errors.ts'
import type { ManagementIdentity } from './identity/authenticate.ts'
import { targetOf } from './request-target.ts'
import type { FoundRoute } from './router.ts'

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
  /** Whether the credential of the request would still be let in, for an answer that lasts. */
  readonly isAllowed: () => boolean
  /** The only way to change anything. */
  readonly journal: RequestJournal
  /** Logs a fault of the server that comes to light after the answer has begun, under the id of this request. */
  fault(error: unknown): ManagementError
}

/**
 * The audit context of a request: its operation is `<METHOD> <route>`, its resource the route (specification, Audit
 * event), its metadata what it is about. Nothing of that depends on how far the request came, so a refusal says as much.
 */
export function auditContext(
  http: HttpRequest,
  found: FoundRoute,
  identity: ManagementIdentity | undefined,
  requestId: string,
): AuditContext {
  const { method, path } = found.route
  return {
    principal: `management:${identity?.role ?? 'unauthenticated'}`,
    credentialId: identity?.credentialId,
    sourceAddress: http.remoteAddress,
    requestId,
    operation: `${method} ${path}`,
    resource: path,
    metadata: targetOf(found, http.query),
  }
}
