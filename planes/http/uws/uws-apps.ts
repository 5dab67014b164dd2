/**
 * The library's apps of one listen socket, and the only place that calls uWebSockets.js.
 *
 * An app reads its certificate when it is made and never again. So a renewed certificate gets an app of its own, to
 * which the first app hands every connection that it accepts from then on; connections of the apps before go on as they
 * are. Nothing listens anew: closing a listen socket would reset the connections that wait in it.
 *
 * The library keeps every app until the thread ends, about 32 KiB for each renewal.
 */
import type { X509Certificate } from 'node:crypto'
import * as uWS from 'uWebSockets.js'
import { AddressShares, askKernel } from '../limits/address-shares.ts'
import type { TrustedProxies } from '../limits/trusted-proxies.ts'
import { FreshConnections } from '../limits/fresh-connections.ts'
import { CIPHERS, CROWDED_PART } from '../limits/connection-rules.ts'
import { nextTurn } from '../listener.ts'
import { peerAddress } from './peer-address.ts'
import { boundReceiveBuffers } from './receive-buffer.ts'
import { readTlsPair, type TlsFiles, TlsFilesError, type TlsPair, unusablePair } from '../tls-files.ts'

/** An app with what the library has and its typings do not. */
interface App extends Omit<uWS.TemplatedApp, 'listen'> {
  listen(host: string, port: number, options: number, done: (socket: uWS.us_listen_socket | false) => void): void
  /** The name of this app within the process. */
  getDescriptor(): number
  /** Connections accepted from now on go to that app, one turn of the loop later; to several apps in turns. */
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
  /** The one that listens. It serves by itself until `reload` adds another one. */
  readonly #first: App
  /** The one that gets the connections. */
  #current: App
  /** All of them: any may still have connections. */
  readonly #all: App[]
  /** What the files held that the current app has read. */
  #pair: TlsPair | undefined
  #socket: uWS.us_listen_socket | undefined
  readonly #connectionsMaximum: number
  readonly #proxies: TrustedProxies | undefined
  /** Open ones, those in a handshake included. */
  #connections = 0
  /**
   * A connection may be closed only while it is certain that it is open: the library frees what it knows of a closed one.
   * It says so in the callback given to it when the connection is opened, which the first request on the connection
   * replaces. Which connection that was the library tells only by giving it the end of its body, if nobody else has asked
   * for the body. So a request that is asked for its body, or may end its connection, makes all fresh connections of its
   * address uncertain, and they are forgotten: they end by themselves.
   */
  readonly fresh = new FreshConnections<uWS.HttpResponse>()
  #shares: AddressShares | undefined

  /**
   * @param route called for every request
   * @param connectionsMaximum further ones take the place of those that have not sent a head yet, or are closed
   * @param proxies their connections are of many clients
   * @throws TlsFilesError when there are files and they cannot be used
   */
  constructor(tls: TlsFiles | undefined, route: Route, connectionsMaximum: number, proxies?: TrustedProxies) {
    this.#proxies = proxies
    this.#tls = tls
    this.#route = route
    this.#connectionsMaximum = connectionsMaximum
    this.#pair = tls === undefined ? undefined : readTlsPair(tls)
    this.#first = makeApp(tls, this.#pair?.digest)
    this.#attach(this.#first)
    this.#current = this.#first
    this.#all = [this.#first]
  }

  /**
   * Listens, once, and bounds the receive buffers of its connections.
   * @param exclusive fail if anybody else listens on the port, and keep it from others
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
        this.#shares = new AddressShares(() => askKernel(bound), this.#proxies)
        resolve(bound)
      })
    })
  }

  /**
   * Reads the TLS files again; new connections get what is in them now.
   * @returns false when there are none, or they hold what is served already
   * @throws TlsFilesError when they cannot be used; everything stays as it was
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

  /** The certificate that new connections are shown; undefined without TLS. */
  get certificate(): X509Certificate | undefined {
    return this.#pair?.certificate
  }

  /** Whether there are about as many connections as there may be. */
  get isCrowded(): boolean {
    return this.#connections >= this.#connectionsMaximum * CROWDED_PART
  }

  /**
   * Whether connections of this address have to end, so that others find a place: connections are short, it holds more
   * than half of them, and others have come.
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
   * Closes every connection; resolves when the last one is gone. Never inside a callback of the library, whose gathered
   * writes would be lost.
   *
   * Closing once is not enough: of many TLS handshakes at once the library does five in a turn, and an app does not know
   * those that still wait. A thread that ends with one of them open takes the whole process with it.
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
      // The library has stopped its clock for this connection; going on winds it up.
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
      if (this.isCrowded && this.#shares?.isOneTooMany(address) === true) this.fresh.closeOneOf(address)
      // A connection that has sent nothing yet makes room; the new one is among them, and younger than all others.
      else if (this.#connections > this.#connectionsMaximum && !this.fresh.closeOne()) res.close()
    })
  }
}

/** @param digest what the files held a moment ago: the library reads them again, and must find the same */
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
