import type { RequestJournal } from '../../exchange/request-journal.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import type { ManagementError } from '../errors.ts'
import type { ManagementIdentity } from '../access/authenticate.ts'

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
