import type { ShareState } from '../../engine/links/state.ts'
import type { PasswordRecord } from '../../engine/events/values.ts'
import { fileNameOf } from './content-disposition.ts'
import type { HttpRequest } from '../http/exchange.ts'
import type { ShareServices } from './services.ts'

const TICKET_HEADER = 'x-share-ticket'
const TICKET_PARAMETER = 'ticket'

/** The ticket in a request; undefined without one. */
export function ticketOf(http: HttpRequest): string | undefined {
  return http.header(TICKET_HEADER) ?? new URLSearchParams(http.query).get(TICKET_PARAMETER) ?? undefined
}

/** An address with the ticket, if given. */
export function withTicket(address: string, ticket: string | undefined): string {
  return ticket === undefined ? address : `${address}?${TICKET_PARAMETER}=${ticket}`
}

/** Whether a request may read the target of a share: it has no password, or the request has a valid ticket. */
export function isOpen(
  http: HttpRequest,
  { share, password }: ShareState,
  { tickets, expiryClock }: ShareServices,
): boolean {
  if (password === undefined) return true
  const ticket = ticketOf(http)
  return ticket !== undefined && tickets.opens(ticket, { share, password }, expiryClock())
}

export function nameOf({ key, fileName }: ShareState): string {
  return fileNameOf(key, fileName)
}

/** A share that has a password. */
export interface ProtectedShare extends ShareState {
  readonly password: PasswordRecord
}

export function isProtected(share: ShareState): share is ProtectedShare {
  return share.password !== undefined
}
