/** The connections of a listener over node:http: their addresses, their limit, and the requests under way on each. */
import type { Socket } from 'node:net'
import { AddressShares } from '../limits/address-shares.ts'
import { type ConnectionBounds, CROWDED_PART } from '../limits/connection-rules.ts'
import { FreshConnections } from '../limits/fresh-connections.ts'

/** What a connection and its listener ask of an exchange; see `node-exchange.ts`. */
interface ConnectionExchange {
  readonly isAnswered: boolean
  readonly hasSpoken: boolean
  gone(): void
}

const MAPPED = '::ffff:'

export class NodeConnection {
  readonly address: string
  /** The socket that carries HTTP; with TLS, not the accepted socket. */
  socket: Socket
  /** Requests that are not answered, or whose clients keep sending after the answer. */
  readonly exchanges = new Set<ConnectionExchange>()
  /** Whether further requests are refused. */
  closing = false
  /** Whether an invalid request was received and answered. */
  refused = false
  readonly #leave: (connection: NodeConnection) => void

  constructor(socket: Socket, leave: (connection: NodeConnection) => void) {
    this.socket = socket
    this.#leave = leave
    this.address = peerText(socket.remoteAddress)
    socket.once('close', () => this.#closed())
  }

  /** Closes it at once, after notifying the exchanges under way on it. */
  close(): void {
    this.closing = true
    this.socket.destroy()
    this.#closed()
  }

  /** Closes it when everything written has been sent. */
  end(): void {
    this.closing = true
    this.socket.destroySoon()
  }

  #closed(): void {
    this.#leave(this)
    for (const exchange of this.exchanges) exchange.gone()
    this.exchanges.clear()
  }
}

/** The peer in the form of `peer-address.ts`: IPv4-mapped IPv6 as IPv4, no zone; empty when the peer has gone. */
export function peerText(address: string | undefined): string {
  if (address === undefined) return ''
  if (address.startsWith(MAPPED) && address.includes('.')) return address.slice(MAPPED.length)
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

export class NodeConnections {
  readonly #bounds: ConnectionBounds
  readonly #all = new Set<NodeConnection>()
  readonly #bySocket = new WeakMap<Socket, NodeConnection>()
  /** Number of connections by address. */
  readonly #counts = new Map<string, number>()
  readonly #fresh = new FreshConnections<NodeConnection>()
  readonly #shares: AddressShares

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds
    this.#shares = new AddressShares(async () => this.#addressWithMost(), bounds.proxies)
  }

  /** Adds a newly accepted socket. */
  opened(socket: Socket): void {
    const connection = new NodeConnection(socket, (one) => this.#forget(one))
    this.#bySocket.set(socket, connection)
    this.#all.add(connection)
    const { address } = connection
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
    this.#fresh.add(address, connection)
    if (this.isCrowded) this.#makeRoom(connection)
  }

  /** For a new connection, where connections are short. */
  #makeRoom(connection: NodeConnection): void {
    const { maximum, refused } = this.#bounds
    if (this.#shares.isOneTooMany(connection.address)) {
      if (this.#fresh.closeOneOf(connection.address)) refused('share')
      return
    }
    if (this.#all.size <= maximum) return
    // A connection without a head makes room; the new one is the youngest of them.
    const closed = this.#fresh.closeOne()
    if (closed === undefined) connection.close()
    refused(closed === undefined || closed === connection ? 'full' : 'silent')
  }

  /** Replaces an accepted socket by its TLS socket. */
  secured(accepted: Socket, secure: Socket): void {
    const connection = this.#bySocket.get(accepted)
    if (connection === undefined) return
    connection.socket = secure
    this.#bySocket.set(secure, connection)
  }

  of(socket: Socket): NodeConnection | undefined {
    return this.#bySocket.get(socket)
  }

  /** A head has arrived, so the connection is not fresh any more. */
  spoke(connection: NodeConnection): void {
    this.#fresh.remove(connection.address, connection)
  }

  get isCrowded(): boolean {
    return this.#all.size >= this.#bounds.maximum * CROWDED_PART
  }

  /** Whether connections of this address must end to make room for others. */
  givesWay(address: string): boolean {
    return this.isCrowded && this.#shares.givesWay(address)
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  #addressWithMost(): string | undefined {
    const half = this.#all.size / 2
    return [...this.#counts].find(([, count]) => count > half)?.[0]
  }

  #forget(connection: NodeConnection): void {
    if (!this.#all.delete(connection)) return
    const { address } = connection
    this.#fresh.remove(address, connection)
    const share = this.#counts.get(address) ?? 0
    if (share > 1) this.#counts.set(address, share - 1)
    else this.#counts.delete(address)
  }
}
