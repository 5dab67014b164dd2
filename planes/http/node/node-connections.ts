/** The connections of a listener over node:http: who they are of, how many there may be, and what is under way on each. */
import type { Socket } from 'node:net'
import { AddressShares } from '../limits/address-shares.ts'
import { CROWDED_PART } from '../limits/connection-rules.ts'
import type { TrustedProxies } from '../limits/trusted-proxies.ts'
import { FreshConnections } from '../limits/fresh-connections.ts'
import type { NodeExchange } from './node-exchange.ts'

const MAPPED = '::ffff:'

export class NodeConnection {
  readonly address: string
  /** What HTTP is spoken on: with TLS not the socket that was accepted. */
  socket: Socket
  /** Requests whose answers are not out, or that go on sending after them. */
  readonly exchanges = new Set<NodeExchange>()
  /** No further request is taken. */
  closing = false
  /** Something was received that is no request, and was answered. */
  refused = false
  readonly #leave: (connection: NodeConnection) => void

  constructor(socket: Socket, leave: (connection: NodeConnection) => void) {
    this.socket = socket
    this.#leave = leave
    this.address = peerText(socket.remoteAddress)
    socket.once('close', () => this.#closed())
  }

  /** Closes it at once; whatever is under way on it has heard of that when this returns. */
  close(): void {
    this.closing = true
    this.socket.destroy()
    this.#closed()
  }

  /** Closes it when all that was written is out. */
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

/** As `peer-address.ts` has it: IPv4-mapped IPv6 as IPv4, no zone; empty when the peer has gone already. */
export function peerText(address: string | undefined): string {
  if (address === undefined) return ''
  if (address.startsWith(MAPPED) && address.includes('.')) return address.slice(MAPPED.length)
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

export class NodeConnections {
  readonly #maximum: number
  readonly #all = new Set<NodeConnection>()
  readonly #bySocket = new WeakMap<Socket, NodeConnection>()
  /** How many each address has. */
  readonly #counts = new Map<string, number>()
  readonly #fresh = new FreshConnections<NodeConnection>()
  readonly #shares: AddressShares

  /**
   * @param maximum further ones take the place of those that have not sent a head yet, or are closed
   * @param proxies their connections are of many clients
   */
  constructor(maximum: number, proxies?: TrustedProxies) {
    this.#maximum = maximum
    this.#shares = new AddressShares(async () => this.#addressWithMost(), proxies)
  }

  /** Takes a socket that was accepted just now. */
  opened(socket: Socket): void {
    const connection = new NodeConnection(socket, (one) => this.#forget(one))
    this.#bySocket.set(socket, connection)
    this.#all.add(connection)
    const { address } = connection
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
    this.#fresh.add(address, connection)
    if (this.isCrowded && this.#shares.isOneTooMany(address)) this.#fresh.closeOneOf(address)
    // A connection that has sent nothing yet makes room; the new one is among them, and younger than all others.
    else if (this.#all.size > this.#maximum && !this.#fresh.closeOne()) connection.close()
  }

  /** TLS is spoken on an accepted socket. */
  secured(accepted: Socket, secure: Socket): void {
    const connection = this.#bySocket.get(accepted)
    if (connection === undefined) return
    connection.socket = secure
    this.#bySocket.set(secure, connection)
  }

  of(socket: Socket): NodeConnection | undefined {
    return this.#bySocket.get(socket)
  }

  /** A head has come. */
  spoke(connection: NodeConnection): void {
    this.#fresh.remove(connection.address, connection)
  }

  get isCrowded(): boolean {
    return this.#all.size >= this.#maximum * CROWDED_PART
  }

  /** Whether connections of this address have to end, so that others find a place. */
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
