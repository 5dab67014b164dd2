/**
 * Connections that have not sent a whole request head yet, so that one of them can make room for somebody else. They cost
 * a client nothing, and a driver lets them be for ten to fourteen seconds.
 */
interface Closable {
  close(): void
}

export class FreshConnections<Connection extends Closable> {
  /** By address, the oldest first. */
  readonly #byAddress = new Map<string, Set<Connection>>()

  /** Takes a connection that was accepted just now. */
  add(address: string, connection: Connection): void {
    const those = this.#byAddress.get(address)
    if (those === undefined) this.#byAddress.set(address, new Set([connection]))
    else those.add(connection)
  }

  /** One that has sent a head, or is closed. */
  remove(address: string, connection: Connection): void {
    const those = this.#byAddress.get(address)
    those?.delete(connection)
    if (those?.size === 0) this.#byAddress.delete(address)
  }

  /** Called when it is not certain any more which connections of an address are fresh. */
  forget(address: string): void {
    this.#byAddress.delete(address)
  }

  /** Closes the oldest of the address that has most. False if there is none. */
  closeOne(): boolean {
    let most: Set<Connection> | undefined
    for (const those of this.#byAddress.values()) if (most === undefined || those.size > most.size) most = those
    const [oldest] = most ?? []
    oldest?.close()
    return oldest !== undefined
  }

  /** Closes the oldest of an address. */
  closeOneOf(address: string): void {
    const [oldest] = this.#byAddress.get(address) ?? []
    oldest?.close()
  }
}
