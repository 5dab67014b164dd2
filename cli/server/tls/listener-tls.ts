import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { readTlsPair, type TlsFiles } from '../../../planes/http/tls-files.ts'
import { localAddress, localUrl } from '../../config/address.ts'
import { ConfigError } from '../../config/config-error.ts'
import type { Address, Config } from '../../config/config-types.ts'

/** The listeners that can use TLS, named like their settings. */
export const tlsListeners = ['s3', 'api', 'console'] as const
export type TlsListener = (typeof tlsListeners)[number]

/** A listener with TLS. */
interface Member {
  readonly files: TlsFiles
  /** At the start. */
  readonly certificate: X509Certificate
}

/** The TLS settings of the listeners. */
export class ListenerTls {
  readonly #members: ReadonlyMap<TlsListener, Member>

  /**
   * Reads the files of every listener with TLS.
   * @throws ConfigError with the problem of each listener
   */
  constructor(config: Config) {
    const members = new Map<TlsListener, Member>()
    const problems: string[] = []
    for (const listener of tlsListeners) {
      const files = filesOf(config, listener)
      if (files === undefined) continue
      try {
        members.set(listener, { files, certificate: readTlsPair(files).certificate })
      } catch (error) {
        problems.push(`TLS of ${listener}.bind: ${(error as Error).message}`)
      }
    }
    if (problems.length > 0) throw new ConfigError(problems)
    this.#members = members
  }

  /** Undefined for plain HTTP. */
  files(listener: TlsListener): TlsFiles | undefined {
    return this.#members.get(listener)?.files
  }

  /** The first certificate; undefined for plain HTTP. */
  certificate(listener: TlsListener): X509Certificate | undefined {
    return this.#members.get(listener)?.certificate
  }

  /** Whether the certificate is self-signed, so that clients must be given it. */
  isSelfSigned(listener: TlsListener): boolean {
    const certificate = this.certificate(listener)
    return certificate?.checkIssued(certificate) ?? false
  }

  /**
   * The URL for clients on the same machine; with TLS under a name of the certificate, since they refuse any other.
   */
  url(listener: TlsListener, bound: Address): string {
    const certificate = this.certificate(listener)
    if (certificate === undefined) return localUrl(bound, false)
    const { host } = localAddress(bound)
    const covered = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)
    return localUrl(
      { host: (covered === undefined ? firstName(certificate) : undefined) ?? host, port: bound.port },
      true,
    )
  }
}

function filesOf(config: Config, listener: TlsListener): TlsFiles | undefined {
  const certificateFile = config[`${listener}.tls_certificate_file`]
  const keyFile = config[`${listener}.tls_key_file`]
  return certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile }
}

/** The first DNS name of a certificate without a wildcard. */
function firstName(certificate: X509Certificate): string | undefined {
  const names = (certificate.subjectAltName ?? '').matchAll(/DNS:([A-Za-z0-9.-]+)(?=,|$)/g)
  return names.next().value?.[1]
}
