/**
 * The listener over node:http and node:https.
 *
 * Node's parser is strict: invalid requests are answered 400 or 431 and the connection is closed, where uWebSockets.js
 * silently holds some of them. Its defaults are changed where they differ from the interface of planes: it does not
 * answer a missing Host or an expectation, does not read a request while the previous one is handled (the connection is
 * closed; no client in use does that), and has the same bounds on heads.
 *
 * Several threads may listen on one port where `sharesPorts` of `http-driver.ts` says so.
 */
import type { X509Certificate } from 'node:crypto'
import { constants } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import { type AddressInfo, type ListenOptions as SocketOptions, Server as SocketServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { CIPHERS } from '../limits/connection-rules.ts'
import { HEADER_BYTES_MAXIMUM } from '../limits/header-limits.ts'
import { boundsOf, Listener, type ListenOptions, nextTurn } from '../listener.ts'
import { NodeConnections } from './node-connections.ts'
import { NodeExchange } from './node-exchange.ts'
import { lastMessage } from './node-response.ts'
import { type HeadFault, TOO_LARGE } from '../requests/request-head.ts'
import { readTlsPair, type TlsFiles, type TlsPair, unusablePair } from '../tls-files.ts'

/** Timeout for a head, for a handshake, and between two requests; uWebSockets.js has twelve seconds built in. */
const IDLE_MILLISECONDS = 12_000
const CHECK_MILLISECONDS = 2000
/** Of node:net, since 22.12 and 23.1; older typings do not have it. */
interface SharedPort extends SocketOptions {
  readonly reusePort?: boolean
}

const SERVER_OPTIONS: ServerOptions = {
  insecureHTTPParser: false,
  requireHostHeader: false,
  maxHeaderSize: HEADER_BYTES_MAXIMUM,
  headersTimeout: IDLE_MILLISECONDS,
  keepAliveTimeout: IDLE_MILLISECONDS,
  // Off: the stall guard watches bodies, and knows whether the exchange waits for the client.
  requestTimeout: 0,
  connectionsCheckingInterval: CHECK_MILLISECONDS,
  noDelay: true,
}

/** The cipher suites of TLS 1.3 must be listed too, or TLS 1.3 is off. */
const SECURE_OPTIONS = {
  ciphers: `TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:${CIPHERS}`,
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const

/** Curves that clients support. With other curves a context can be made, but no handshake succeeds. */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/** The fault of an invalid request, by the error code of the parser. */
const FAULTS: Readonly<Record<string, HeadFault>> = {
  HPE_HEADER_OVERFLOW: TOO_LARGE,
  HPE_INVALID_VERSION: { status: 505, reason: 'The server speaks HTTP/1.1.' },
}
const MALFORMED: HeadFault = { status: 400, reason: 'The request is malformed.' }
const TOO_SLOW: HeadFault = { status: 408, reason: 'The request head did not arrive in time.' }
const CONNECT_REFUSED: HeadFault = { status: 400, reason: 'CONNECT is not supported.' }

export class NodeListener extends Listener {
  readonly #server: Server | SecureServer
  readonly #connections: NodeConnections
  #pair: TlsPair | undefined
  #port = 0

  constructor(options: ListenOptions) {
    const { tls } = options
    const connections = new NodeConnections(boundsOf(options))
    // First, because it fails when the files cannot be used.
    const pair = tls === undefined ? undefined : readTlsPair(tls)
    const server =
      tls === undefined || pair === undefined ? plainServer(connections) : secureServer(tls, pair, connections)
    super(options)
    this.#connections = connections
    this.#pair = pair
    this.#server = server
    // Off: a limit here would silently drop lines; `node-head.ts` counts them and refuses.
    server.maxHeadersCount = 0
    // Ends connections whose client does not read the end of an answer, or sends nothing.
    server.timeout = options.stallTimeoutMilliseconds ?? 60_000
    const take = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response)
    server.on('request', take)
    server.on('checkExpectation', take)
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      response.writeContinue()
      take(request, response)
    })
    server.on('connect', (_request: IncomingMessage, socket: Duplex) => this.#refuse(socket as Socket, CONNECT_REFUSED))
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => this.#unread(error, socket as Socket))
    server.on('timeout', (socket: Socket) => this.#idle(socket))
  }

  /** False when the address cannot be listened on. */
  open(): Promise<boolean> {
    const { host, port, exclusive = false } = this.options
    const where: SharedPort = { host, port, exclusive: true, reusePort: !exclusive && port !== 0 }
    return new Promise((resolve) => {
      const failed = () => resolve(false)
      this.#server.once('error', failed)
      this.#server.listen(where, () => {
        this.#server.off('error', failed)
        this.#port = (this.#server.address() as AddressInfo).port
        resolve(true)
      })
    })
  }

  get port(): number {
    return this.#port
  }

  get certificate(): X509Certificate | undefined {
    return this.#pair?.certificate
  }

  reloadTls(): boolean {
    const { tls } = this.options
    if (tls === undefined || this.closing) return false
    const pair = readTlsPair(tls)
    if (pair.digest === this.#pair?.digest) return false
    const context = contextOf(tls, pair)
    attempt(tls, () => (this.#server as SecureServer).setSecureContext(context))
    this.#pair = pair
    return true
  }

  givesWay(address: string): boolean {
    return this.#connections.givesWay(address)
  }

  protected get isCrowded(): boolean {
    return this.#connections.isCrowded
  }

  /** Does not use the server's `close`, which also closes idle connections: they are served until all are closed. */
  protected stopListening(): void {
    SocketServer.prototype.close.call(this.#server)
  }

  protected closeConnections(): Promise<void> {
    // Also stops its interval timer.
    this.#server.close(() => {})
    this.#connections.close()
    return nextTurn()
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.of(request.socket)
    if (connection === undefined || connection.closing) return
    this.#connections.spoke(connection)
    for (const before of connection.exchanges) {
      if (before.isAnswered) continue
      connection.close()
      return
    }
    const exchange = new NodeExchange(request, response, connection, this)
    connection.exchanges.add(exchange)
    this.serve(exchange)
  }

  /** Handles an error of the parser or of the socket. */
  #unread(error: NodeJS.ErrnoException, socket: Socket): void {
    const { code = '' } = error
    if (code.startsWith('HPE_')) this.#refuse(socket, FAULTS[code] ?? MALFORMED)
    // A connection without any bytes is closed silently: clients open connections before they need them.
    else if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead > 0) this.#refuse(socket, TOO_SLOW)
    else socket.destroy()
  }

  /** Answers an invalid request, and keeps reading for a while, so that a client that still sends gets the answer. */
  #refuse(socket: Socket, { status, reason }: HeadFault): void {
    const connection = this.#connections.of(socket)
    if (connection === undefined || connection.refused) return
    connection.refused = true
    this.#connections.spoke(connection)
    const exchanges = [...connection.exchanges]
    if (connection.closing || (exchanges.length > 0 && exchanges.every(({ isAnswered }) => isAnswered))) {
      connection.end()
      return
    }
    if (!socket.writable || exchanges.some(({ hasSpoken }) => hasSpoken)) {
      connection.close()
      return
    }
    connection.closing = true
    for (const exchange of exchanges) exchange.gone()
    const response = this.refusalOf(status, reason)
    socket.end(lastMessage(response, 'GET'))
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), this.lingerMilliseconds)
    socket.once('close', () => clearTimeout(timer))
  }

  /** Closes an idle connection, unless a handler is still at work on one of its requests. */
  #idle(socket: Socket): void {
    const connection = this.#connections.of(socket)
    if (connection === undefined || connection.exchanges.size === 0) socket.destroy()
  }
}

function plainServer(connections: NodeConnections): Server {
  const server = createServer(SERVER_OPTIONS)
  server.on('connection', (socket: Socket) => connections.opened(socket))
  return server
}

function secureServer(tls: TlsFiles, pair: TlsPair, connections: NodeConnections): SecureServer {
  const context = contextOf(tls, pair)
  const server = attempt(tls, () =>
    createSecureServer({ ...SERVER_OPTIONS, ...context, handshakeTimeout: IDLE_MILLISECONDS }),
  )
  /** Raw socket by peer: a TLS socket does not expose the socket below it. */
  const accepted = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = `${socket.remoteAddress} ${socket.remotePort}`
    accepted.set(peer, socket)
    socket.once('close', () => accepted.delete(peer))
    connections.opened(socket)
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const below = accepted.get(`${socket.remoteAddress} ${socket.remotePort}`)
    if (below !== undefined) connections.secured(below, socket)
  })
  return server
}

function attempt<T>(tls: TlsFiles, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw unusablePair(tls, error)
  }
}

function contextOf(tls: TlsFiles, { certificate, certificateText, keyText }: TlsPair) {
  const { namedCurve } = certificate.publicKey.asymmetricKeyDetails ?? {}
  if (namedCurve !== undefined && !CURVES.has(namedCurve)) throw unusablePair(tls)
  return { ...SECURE_OPTIONS, cert: certificateText, key: keyText }
}
