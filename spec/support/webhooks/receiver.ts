/** A real receiver of webhooks, over real sockets. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { CertificateAndKey } from '../self-signed-certificate.ts'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Answers a request whose body has arrived. */
export type Answering = (response: ServerResponse, request: IncomingMessage) => void

export interface Receiver {
  readonly port: number
  /** `http://127.0.0.1:PORT/hook`, or with https. */
  readonly url: string
  readonly received: Received[]
  /** How many connections were opened. */
  readonly connections: number
  answer: Answering
  close(): Promise<void>
}

export function statusOf(status: number, headers: Readonly<Record<string, string>> = {}): Answering {
  return (response) => void response.writeHead(status, headers).end('thanks')
}

export async function startReceiver(answer: Answering = statusOf(204), tls?: CertificateAndKey): Promise<Receiver> {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces) })
      receiver.answer(response, request)
    })
  }
  const server =
    tls === undefined ? createServer(listener) : createTlsServer({ cert: tls.certificate, key: tls.key }, listener)
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    port,
    url: `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}/hook`,
    received,
    get connections() {
      return connections
    },
    answer,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return receiver
}
