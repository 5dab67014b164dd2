/**
 * Connections that have not sent a whole request head yet. One of them is closed to make room for a new connection:
 * they cost a client nothing, and drivers keep them for ten to fourteen seconds.
 */
interface Closable {
  close(): void
}

export class FreshConnections<Connection extends Closable> {
  /** By address, the oldest first. */
  readonly #byAddress = new Map<string, Set<Connection>>()

  /** Adds a newly accepted connection. */
  add(address: string, connection: Connection): void {
    const those = this.#byAddress.get(address)
    if (those === undefined) this.#byAddress.set(address, new Set([connection]))
    else those.add(connection)
  }

  /** Forgets a connection that has sent a head or is closed. */
  remove(address: string, connection: Connection): void {
    const those = this.#byAddress.get(address)
    those?.delete(connection)
    if (those?.size === 0) this.#byAddress.delete(address)
  }

  /** Forgets all connections of an address; called when it is uncertain which of them are fresh. */
  forget(address: string): void {
    this.#byAddress.delete(address)
  }

  /** Closes the oldest connection of the address with most of them, and returns it; undefined without fresh connections. */
  closeOne(): Connection | undefined {
    let most: Set<Connection> | undefined
    for (const those of this.#byAddress.values()) if (most === undefined || those.size > most.size) most = those
    const [oldest] = most ?? []
    oldest?.close()
    return oldest
  }

  /** Closes the oldest of an address. False when it has no fresh one. */
  closeOneOf(address: string): boolean {
    const [oldest] = this.#byAddress.get(address) ?? []
    oldest?.close()
    return oldest !== undefined
  }
}
