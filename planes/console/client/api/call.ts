import type { Operations } from '../../../../build/console-api/api.ts'
import { pathOf, queryOf } from './address.ts'
import { errorOf, unreachable } from './api-error.ts'
import { noteAway } from './connection.ts'
import { isExpired, type Role, type Session, session } from './session.ts'

type Operation = keyof Operations
export type Answer<O extends Operation> = Operations[O]['answer']

/** The parts of a request that an operation takes. */
type Given<O extends Operation> = Part<'path', Operations[O]['path']> & {
  readonly query?: Operations[O]['query']
} & (Operations[O]['body'] extends undefined ? unknown : { readonly body: Operations[O]['body'] })
type Part<Name extends string, Values> = keyof Values extends never ? unknown : { readonly [N in Name]: Values }

interface Sent {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
}

/**
 * Sends one request.
 * @param requestId sent with the request, so that its record can be recognized
 * @returns the answer; undefined for an empty one
 * @throws ApiError; the reason of `signal` when that is aborted
 */
export async function call<O extends Operation>(
  operation: O,
  given: Given<O>,
  signal?: AbortSignal,
  requestId?: string,
): Promise<Answer<O>> {
  const response = await send(operation, given as Sent, session.value?.authorization ?? '', signal, requestId)
  return (response.status === 204 ? undefined : await jsonOf(response, signal)) as Answer<O>
}

/** The bytes of an answer, for a preview. As `call`. */
export async function callForBytes<O extends Operation>(
  operation: O,
  given: Given<O>,
  signal?: AbortSignal,
): Promise<Blob> {
  const response = await send(operation, given as Sent, session.value?.authorization ?? '', signal)
  return reached(() => response.blob(), signal)
}

/** An answer whose body the caller reads, for long bodies. As `call`. */
export function callForResponse<O extends Operation>(
  operation: O,
  given: Given<O>,
  signal?: AbortSignal,
): Promise<Response> {
  return send(operation, given as Sent, session.value?.authorization ?? '', signal)
}

/**
 * The session of a credential, from the server.
 * @throws ApiError, UNAUTHENTICATED for an invalid credential
 */
export async function sessionOf(authorization: string): Promise<Session> {
  const response = await send('GET /auth/session', {}, authorization)
  const answer = (await jsonOf(response)) as Answer<'GET /auth/session'>
  const role: Role = answer.role
  const { credential_id: credentialId, principal_name: name, expires_at: expiresAt } = answer
  return { authorization, role, credentialId, name, expiresAt }
}

async function send(
  operation: Operation,
  sent: Sent,
  authorization: string,
  signal?: AbortSignal,
  requestId?: string,
): Promise<Response> {
  const response = await answered(operation, sent, authorization, signal, requestId)
  if (response.ok) return response
  const text = await reached(() => response.text(), signal)
  const error = errorOf(response.status, text, response.headers.get('x-request-id'))
  if (error.code === 'UNAUTHENTICATED' && authorization === session.value?.authorization) isExpired.value = true
  throw error
}

/** @throws ApiError UNREACHABLE without an answer */
async function answered(
  operation: Operation,
  { path = {}, query = {}, body }: Sent,
  authorization: string,
  signal?: AbortSignal,
  requestId?: string,
): Promise<Response> {
  const headers: Record<string, string> = { authorization }
  if (requestId !== undefined) headers['x-request-id'] = requestId
  if (body !== undefined) headers['content-type'] = 'application/json'
  const init: RequestInit = { method: operation.slice(0, operation.indexOf(' ')), headers, credentials: 'omit' }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal !== undefined) init.signal = signal
  const address = new URL(pathOf(operation, path) + queryOf(query), document.baseURI)
  return reached(() => fetch(address, init), signal)
}

/** @throws ApiError UNREACHABLE when the answer ends early, BAD_ANSWER when it is not the server's */
async function jsonOf(response: Response, signal?: AbortSignal): Promise<unknown> {
  const text = await reached(() => response.text(), signal)
  try {
    return JSON.parse(text)
  } catch {
    throw errorOf(response.status, text, response.headers.get('x-request-id'))
  }
}

/** @throws ApiError UNREACHABLE for any failure of the browser's fetch, which gives no reason */
async function reached<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (signal?.aborted === true) throw error
    noteAway()
    throw unreachable()
  }
}
