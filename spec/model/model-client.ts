/** Requests of the model over a socket. `now` is the time that the server judges signatures by. */
import { once } from 'node:events'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import { API } from '../../planes/management/routing/define-route.ts'
import type { ApiClient } from '../support/api-client.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import type { Clients } from '../support/test-clients.ts'
import type { RawRequest, WireAnswer } from '../support/wire-client.ts'
import type { ModelRequest } from './expectation.ts'

/** A server that does not answer at all must not stop the run; it is no bound on how long an answer may take. */
const PATIENCE_MILLISECONDS = 60_000

/** Where a model sends its requests. */
export interface ModelClients extends Clients {
  readonly api: ApiClient
}

export async function sendSigned(clients: ModelClients, request: ModelRequest, now: number): Promise<WireAnswer> {
  const { method, target } = request
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${method} ${target}: no answer`)), PATIENCE_MILLISECONDS)
  })
  try {
    const answer = isManagement(request)
      ? sendManagement(clients.api, request)
      : clients.raw(method, target, rawRequest(request, now))
    return await Promise.race([answer, patience])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a request is for the management plane. No bucket of the model has the name that its paths begin with. */
export function isManagement({ target }: ModelRequest): boolean {
  return target.startsWith(`${API}/`)
}

async function sendManagement(
  api: ApiClient,
  { method, target, headers: sent = [], body = '' }: ModelRequest,
): Promise<WireAnswer> {
  const raw = typeof body === 'string' ? body : body.bytes
  const { status, headers, code, ...answer } = await api.send(method, target, { raw, headers: sent })
  return { status, headers, body: answer.body, text: answer.text, complete: true, code }
}

/** Sends a share of the bytes of a request and ends the connection some turns of the event loop later. */
export async function sendCut(
  clients: Clients,
  request: ModelRequest,
  now: number,
  share: number,
  turns: number,
): Promise<void> {
  const bytes = bytesOf(clients, request, now)
  const client = openRaw(clients.port)
  await once(client.socket, 'connect')
  // The server may end the connection before it has read all: what it did is for the model to find.
  await client.push(bytes.subarray(0, Math.ceil(share * bytes.length))).catch(() => undefined)
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
  client.socket.destroy()
}

function bytesOf(clients: Clients, request: ModelRequest, now: number): Buffer {
  const { method, target } = request
  const raw = rawRequest(request, now)
  const body = Buffer.from(raw.body ?? '')
  const length: HeaderLine = ['content-length', String(body.length)]
  const text = clients.wire.headText(method, target, { ...raw, unsignedHeaders: [length] })
  return Buffer.concat([Buffer.from(text, 'latin1'), body])
}

function rawRequest({ headers = [], body }: ModelRequest, now: number): RawRequest {
  if (body === undefined || typeof body === 'string') return { headers, body: body ?? '', sign: { now } }
  return { headers, body: body.bytes, sign: { now, payloadHash: body.sha256 } }
}
