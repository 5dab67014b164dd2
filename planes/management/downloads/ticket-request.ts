import type { HeaderLine, HttpRequest, RequestBody } from '../../http/exchange.ts'
import { API } from '../routing/define-route.ts'
import type { DownloadTickets, Ticket } from './download-tickets.ts'

/** Path prefix of tickets. */
export const TICKET_PATH = '/d/'

/** The request behind a ticket, on the connection that sent the ticket. */
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
 * Uses up the ticket of a request and returns the request behind it, which is then authenticated, authorized and
 * recorded like any other, under its issuer. Undefined for a request without a valid ticket, which gets a 404.
 */
export function requestOfTicket(http: HttpRequest, tickets: DownloadTickets): HttpRequest | undefined {
  if (http.method !== 'GET' || !http.path.startsWith(TICKET_PATH) || http.query !== '') return undefined
  const ticket = tickets.take(http.path.slice(TICKET_PATH.length))
  return ticket === undefined ? undefined : new TicketRequest(http, ticket)
}
