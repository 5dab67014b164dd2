import type { HeaderLine, HttpRequest, RequestBody } from '../../http/exchange.ts'
import { API } from '../define-route.ts'
import type { DownloadTickets, Ticket } from './download-tickets.ts'

/** Where tickets are used. */
export const TICKET_PATH = '/d/'

/** The request that a ticket was made for, on the connection that the ticket came by. */
class TicketRequest implements HttpRequest {
  readonly method = 'GET'
  readonly path: string
  readonly query: string
  readonly headers: readonly HeaderLine[]
  readonly remoteAddress: string
  readonly secure: boolean
  readonly contentLength: number | undefined
  readonly body: RequestBody
  readonly #http: HttpRequest
  readonly #authorization: string

  constructor(http: HttpRequest, { bucket, key, versionId, authorization }: Ticket) {
    this.#http = http
    this.#authorization = authorization
    this.path = `${API}/buckets/${encodeURIComponent(bucket)}/object-content/${encodeURIComponent(key)}`
    this.query = `version_id=${encodeURIComponent(versionId)}`
    this.headers = [...http.headers.filter(([name]) => name !== 'authorization'), ['authorization', authorization]]
    this.remoteAddress = http.remoteAddress
    this.secure = http.secure
    this.contentLength = http.contentLength
    this.body = http.body
  }

  header(name: string): string | undefined {
    return name === 'authorization' ? this.#authorization : this.#http.header(name)
  }

  onAborted(listener: () => void): void {
    this.#http.onAborted(listener)
  }

  cut(): void {
    this.#http.cut()
  }
}

/**
 * The request in place of one with a ticket, which is used up by it. It goes the way of every other: it is authenticated and
 * authorized now, and its record names the issuer and the object. Undefined for any other request; a ticket that is not
 * there is a path that is not there.
 */
export function requestOfTicket(http: HttpRequest, tickets: DownloadTickets): HttpRequest | undefined {
  if (http.method !== 'GET' || !http.path.startsWith(TICKET_PATH) || http.query !== '') return undefined
  const ticket = tickets.take(http.path.slice(TICKET_PATH.length))
  return ticket === undefined ? undefined : new TicketRequest(http, ticket)
}
