/**
 * Connections that have not sent a whole request head yet, so that one of them can make room for somebody else. They cost
 * a client nothing, and the library lets them be for ten to fourteen seconds.
 *
 * A connection may be closed here only while it is certain that it is open: the library frees what it knows of a closed one.
 * It says so in the callback given to it when the connection is opened, which the first request on the connection
 * replaces. Which connection that was the library tells only by giving it the end of its body, if nobody else has asked
 * for the body. So a request that is asked for its body, or may end its connection, makes all fresh connections of its
 * address uncertain, and they are forgotten: they end by themselves.
 */
import type * as uWS from 'uWebSockets.js'
import { peerAddress } from './peer-address.ts'

export class FreshConnections {
  /** By address, the oldest first. */
  readonly #byAddress = new Map<string, Set<uWS.HttpResponse>>()

  /** Takes a connection that was accepted just now. */
  opened(connection: uWS.HttpResponse): void {
    const address = peerAddress(connection)
    const those = this.#byAddress.get(address)
    if (those === undefined) this.#byAddress.set(address, new Set([connection]))
    else those.add(connection)
    const remove = (): void => this.#remove(address, connection)
    connection.onAborted(remove)
    connection.onData(() => {
      remove()
      // The library has stopped its clock for this connection; going on winds it up.
      connection.pause()
      connection.resume()
    })
  }

  /** Called with a request after which it is not certain which connections of its address are fresh. */
  forget(address: string): void {
    this.#byAddress.delete(address)
  }

  /** Closes the oldest of the address that has most. False if there is none. */
  closeOne(): boolean {
    let most: Set<uWS.HttpResponse> | undefined
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

  #remove(address: string, connection: uWS.HttpResponse): void {
    const those = this.#byAddress.get(address)
    those?.delete(connection)
    if (those?.size === 0) this.#byAddress.delete(address)
  }
}
