/** The HTTP driver in memory: a listener as the two over sockets, without a socket. */
import type { X509Certificate } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { Listener, type ListenOptions } from '../../../planes/http/listener.ts'
import type { HeadSource } from '../../../planes/http/requests/request-head.ts'
import { type ClientEnd, MemoryExchange } from './memory-exchange.ts'

/** A head as it was sent: names in any case, values as text. */
export interface SentHead {
  readonly method: string
  readonly target: string
  readonly headers: readonly HeaderLine[]
}

export class MemoryListener extends Listener {
  readonly certificate: X509Certificate | undefined = undefined
  readonly port: number
  readonly #open = new Map<ClientEnd, MemoryExchange>()
  #listens = true

  /** @param port by which clients find the listener */
  constructor(options: Omit<ListenOptions, 'driver'>, port: number) {
    super({ driver: 'node', ...options })
    this.port = port
  }

  /**
   * A head has arrived over a connection.
   * @returns undefined when the listener takes no more connections
   */
  accept(head: SentHead, client: ClientEnd): MemoryExchange | undefined {
    if (!this.#listens) return undefined
    const exchange = new MemoryExchange(sourceOf(head), client, this)
    this.#open.set(client, exchange)
    this.serve(exchange)
    return exchange
  }

  /** The client has closed its end. */
  left(client: ClientEnd): void {
    const exchange = this.#open.get(client)
    this.#open.delete(client)
    exchange?.gone()
  }

  reloadTls(): boolean {
    return false
  }

  givesWay(): boolean {
    return false
  }

  protected get isCrowded(): boolean {
    return false
  }

  protected stopListening(): void {
    this.#listens = false
  }

  async closeConnections(): Promise<void> {
    for (const client of this.#open.keys()) {
      client.closed()
      this.left(client)
    }
  }
}

function sourceOf({ method, target, headers }: SentHead): HeadSource {
  const mark = target.indexOf('?')
  return {
    getCaseSensitiveMethod: () => method,
    getUrl: () => (mark === -1 ? target : target.slice(0, mark)),
    getQuery: () => (mark === -1 ? undefined : target.slice(mark + 1)),
    forEach: (each) => {
      for (const [name, value] of headers) each(name.toLowerCase(), Buffer.from(value, 'latin1').toString().trim())
    },
  }
}
