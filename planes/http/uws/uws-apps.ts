/**
 * The library's apps of one listen socket, and the only place that calls uWebSockets.js.
 *
 * An app reads its certificate only when it is made. So a renewed certificate gets an app of its own, to which the
 * first app hands every connection that it accepts from then on; connections of earlier apps are not affected. The
 * listen socket stays open: closing it would reset the connections that wait in it.
 *
 * The library keeps every app until the thread ends, about 32 KiB for each renewal.
 */
import type { X509Certificate } from 'node:crypto'
import * as uWS from 'uWebSockets.js'
import { AddressShares, askKernel } from '../limits/address-shares.ts'
import { FreshConnections } from '../limits/fresh-connections.ts'
import { CIPHERS, type ConnectionBounds, CROWDED_PART } from '../limits/connection-rules.ts'
import { nextTurn } from '../listener.ts'
import { peerAddress } from './peer-address.ts'
import { boundReceiveBuffers } from './receive-buffer.ts'
import { readTlsPair, type TlsFiles, TlsFilesError, type TlsPair, unusablePair } from '../tls-files.ts'

/** An app with the library's methods that its typings lack. */
interface App extends Omit<uWS.TemplatedApp, 'listen'> {
  listen(host: string, port: number, options: number, done: (socket: uWS.us_listen_socket | false) => void): void
  /** The name of this app within the process. */
  getDescriptor(): number
  /** Passes new connections to that app, one turn of the loop later; with several child apps, in turns. */
  addChildAppDescriptor(descriptor: number): void
  removeChildAppDescriptor(descriptor: number): void
}

interface Library {
  App(): App
  SSLApp(options: uWS.AppOptions): App
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number
}

const library = uWS as unknown as Library

type Route = (res: uWS.HttpResponse, request: uWS.HttpRequest) => void

export class UwsApps {
  readonly #tls: TlsFiles | undefined
  readonly #route: Route
  /** The app that listens. It serves connections itself until `reload` adds another app. */
  readonly #first: App
  /** The app that gets new connections. */
  #current: App
  /** All apps: each may still have connections. */
  readonly #all: App[]
  /** Content of the TLS files when the current app read them. */
  #pair: TlsPair | undefined
  #socket: uWS.us_listen_socket | undefined
  readonly #bounds: ConnectionBounds
  /** Open connections, including handshakes. */
  #connections = 0
  /**
   * Closing a connection that is already closed is unsafe, because the library has freed it. The library reports the
   * close through a callback set when the connection opens, which the first request on it replaces. It identifies that
   * connection only through the end of the request's body, unless the body is read. So a request whose body is read, or
   * that may end its connection, makes all fresh connections of its address uncertain: they are forgotten, and end by
   * themselves.
   */
  readonly fresh = new FreshConnections<uWS.HttpResponse>()
  #shares: AddressShares | undefined

  /**
   * @param route called for every request
   * @throws TlsFilesError when the TLS files cannot be used
   */
  constructor(tls: TlsFiles | undefined, route: Route, bounds: ConnectionBounds) {
    this.#bounds = bounds
    this.#tls = tls
    this.#route = route
    this.#pair = tls === undefined ? undefined : readTlsPair(tls)
    this.#first = makeApp(tls, this.#pair?.digest)
    this.#attach(this.#first)
    this.#current = this.#first
    this.#all = [this.#first]
  }

  /**
   * Listens, once, and bounds the receive buffers of its connections.
   * @param exclusive fail if another process listens on the port, and do not share it
   * @returns the port, or undefined when the address cannot be listened on
   * @throws Error when receive buffers cannot be bounded; the app must be closed then, like any other
   */
  async listen(host: string, port: number, exclusive: boolean): Promise<number | undefined> {
    const bound = await this.#listen(host, port, exclusive)
    if (bound !== undefined) boundReceiveBuffers(bound)
    return bound
  }

  #listen(host: string, port: number, exclusive: boolean): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.#first.listen(host, port, exclusive ? library.LIBUS_LISTEN_EXCLUSIVE_PORT : 0, (socket) => {
        if (socket === false) {
          resolve(undefined)
          return
        }
        this.#socket = socket
        const bound = uWS.us_socket_local_port(socket as uWS.us_socket)
        this.#shares = new AddressShares(() => askKernel(bound), this.#bounds.proxies)
        resolve(bound)
      })
    })
  }

  /**
   * Reads the TLS files again; new connections get the new certificate.
   * @returns false without TLS files or changes in them
   * @throws TlsFilesError when they cannot be used; the current certificate stays in use
   */
  reload(): boolean {
    if (this.#tls === undefined) return false
    const pair = readTlsPair(this.#tls)
    if (pair.digest === this.#pair?.digest) return false
    const app = makeApp(this.#tls, pair.digest)
    this.#attach(app)
    this.#first.addChildAppDescriptor(app.getDescriptor())
    if (this.#current !== this.#first) this.#first.removeChildAppDescriptor(this.#current.getDescriptor())
    this.#current = app
    this.#pair = pair
    this.#all.push(app)
    return true
  }

  /** The certificate of new connections; undefined without TLS. */
  get certificate(): X509Certificate | undefined {
    return this.#pair?.certificate
  }

  /** Whether the number of connections is close to its maximum. */
  get isCrowded(): boolean {
    return this.#connections >= this.#bounds.maximum * CROWDED_PART
  }

  /**
   * Whether connections of this address must end to make room: connections are short, it holds more than half of them,
   * and other addresses need some.
   */
  givesWay(address: string): boolean {
    return this.isCrowded && this.#shares?.givesWay(address) === true
  }

  /** Accepts no more connections. Those accepted in this turn are still handed over in the next. */
  stopListening(): void {
    if (this.#socket !== undefined) uWS.us_listen_socket_close(this.#socket)
    this.#socket = undefined
  }

  /**
   * Closes every connection; resolves when the last one is closed. Never called inside a callback of the library, whose
   * gathered writes would be lost.
   *
   * Closing once is not enough: the library does five of many concurrent TLS handshakes per turn, and an app does not
   * know the waiting connections. A thread that ends with one of them open kills the whole process.
   */
  async close(): Promise<void> {
    do {
      for (const app of this.#all) app.close()
      await nextTurn()
    } while (this.#connections > 0)
  }

  #watchFresh(address: string, connection: uWS.HttpResponse): void {
    this.fresh.add(address, connection)
    const remove = (): void => this.fresh.remove(address, connection)
    connection.onAborted(remove)
    connection.onData(() => {
      remove()
      // The library has stopped the timeout of this connection; pause and resume restart it.
      connection.pause()
      connection.resume()
    })
  }

  #attach(app: App): void {
    app.any('/*', this.#route)
    app.filter((res, change) => {
      this.#connections += change
      if (change < 0) return
      const address = peerAddress(res)
      this.#watchFresh(address, res)
      if (this.isCrowded) this.#makeRoom(address, res)
    })
  }

  /** For a new connection, where connections are short. */
  #makeRoom(address: string, connection: uWS.HttpResponse): void {
    const { maximum, refused } = this.#bounds
    if (this.#shares?.isOneTooMany(address) === true) {
      if (this.fresh.closeOneOf(address)) refused('share')
      return
    }
    if (this.#connections <= maximum) return
    // A connection without a head makes room; the new one is the youngest of them.
    const closed = this.fresh.closeOne()
    if (closed === undefined) connection.close()
    refused(closed === undefined || closed === connection ? 'full' : 'silent')
  }
}

/** @param digest of the files as checked: the library reads them again, and must find the same content */
function makeApp(tls: TlsFiles | undefined, digest: string | undefined): App {
  if (tls === undefined) return library.App()
  const { certificateFile, keyFile } = tls
  let app: App
  try {
    app = library.SSLApp({ cert_file_name: certificateFile, key_file_name: keyFile, ssl_ciphers: CIPHERS })
  } catch (error) {
    throw unusablePair(tls, error)
  }
  try {
    if (readTlsPair(tls).digest === digest) return app
    throw new TlsFilesError(`${certificateFile} and ${keyFile} changed while they were read`)
  } catch (error) {
    app.close()
    throw error
  }
}
