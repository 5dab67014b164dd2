import type { X509Certificate } from 'node:crypto'
import { type Clock, systemClock } from '../../../engine/clock.ts'
import { problemOfDates } from './certificate-dates.ts'
import { readTlsPair } from '../../../planes/http/tls-files.ts'
import { type ListenerTls, type TlsListener, tlsListeners } from './listener-tls.ts'
import type { Logger } from '../log/logger.ts'

/** Makes a listener read its files again; returns whether it serves a new certificate. Throws or rejects if it cannot. */
type ListenerReload = () => boolean | Promise<boolean>

/** Replaces the certificates of running listeners. An unusable certificate changes nothing. */
export class CertificateReload {
  readonly #log: Logger
  readonly #tls: ListenerTls
  readonly #reloads: Readonly<Record<TlsListener, ListenerReload>>
  readonly #served = new Map<TlsListener, X509Certificate>()
  #last: Promise<void> = Promise.resolve()

  constructor(log: Logger, tls: ListenerTls, reloads: Readonly<Record<TlsListener, ListenerReload>>) {
    this.#log = log
    this.#tls = tls
    this.#reloads = reloads
    for (const listener of tlsListeners) {
      const certificate = tls.certificate(listener)
      if (certificate !== undefined) this.#served.set(listener, certificate)
    }
  }

  /** The certificate of each listener with TLS that new connections are shown. */
  get served(): ReadonlyMap<TlsListener, X509Certificate> {
    return this.#served
  }

  /** Reloads every listener with TLS, after earlier reloads; never rejects. */
  run(): Promise<void> {
    this.#last = this.#last.then(() => this.#reloadAll())
    return this.#last
  }

  async #reloadAll(): Promise<void> {
    const secure = tlsListeners.filter((listener) => this.#tls.files(listener) !== undefined)
    if (secure.length === 0) this.#log.info('nothing to reload: no listener has a certificate')
    for (const listener of secure) await this.#reloadOne(listener)
  }

  async #reloadOne(listener: TlsListener): Promise<void> {
    const files = this.#tls.files(listener)
    if (files === undefined) return
    try {
      // Read here first, so that an unusable pair is reported once and not by every thread.
      const { certificate } = readTlsPair(files)
      if (await this.#reloads[listener]()) {
        this.#served.set(listener, certificate)
        logCertificate(this.#log, listener, certificate)
      } else this.#log.info({ listener }, 'the certificate files have not changed')
    } catch (error) {
      const reason = (error as Error).message
      this.#log.error({ listener, reason }, 'the certificate could not be replaced; the old one is still served')
    }
  }
}

/** Logs the certificate of a listener, and warns if its dates make clients refuse it. */
export function logCertificate(
  log: Logger,
  listener: TlsListener,
  certificate: X509Certificate,
  clock: Clock = systemClock,
): void {
  const { subjectAltName, validFrom, validTo, fingerprint256 } = certificate
  const subject = certificate.subject.replaceAll('\n', ', ')
  log.info({ listener, subject, names: subjectAltName, validTo, fingerprint: fingerprint256 }, 'serving a certificate')
  const problem = problemOfDates(certificate, clock)
  if (problem !== undefined) log.warn({ listener, validFrom, validTo }, problem)
}

/** Logs the first certificate of every listener with TLS. */
export function logCertificates(log: Logger, tls: ListenerTls): void {
  for (const listener of tlsListeners) {
    const certificate = tls.certificate(listener)
    if (certificate !== undefined) logCertificate(log, listener, certificate)
  }
}
