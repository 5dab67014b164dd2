import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { readTlsPair, type TlsFiles } from '../planes/http/tls-files.ts'
import { localAddress, localUrl } from './config/address.ts'
import { ConfigError } from './config/config-error.ts'
import type { Address, Config } from './config/config-types.ts'

/** The listeners that can speak TLS, by the group of their settings. */
export const tlsListeners = ['s3', 'api'] as const
export type TlsListener = (typeof tlsListeners)[number]

/** A listener that speaks TLS. */
interface Member {
  readonly files: TlsFiles
  /** What it is shown with at the start. */
  readonly certificate: X509Certificate
}

/** Which listeners speak TLS, as the configuration has it, and what follows from it. */
export class ListenerTls {
  readonly #members: ReadonlyMap<TlsListener, Member>

  /**
   * Reads the files of every listener that has some, before anything is started with them.
   * @throws ConfigError with what is wrong with the files of each listener
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

  /** Undefined when the listener speaks plain HTTP. */
  files(listener: TlsListener): TlsFiles | undefined {
    return this.#members.get(listener)?.files
  }

  /** What the listener began with; undefined when it speaks plain HTTP. */
  certificate(listener: TlsListener): X509Certificate | undefined {
    return this.#members.get(listener)?.certificate
  }

  /** Whether clients must be given the certificate of the listener, because nobody but itself vouches for it. */
  isSelfSigned(listener: TlsListener): boolean {
    const certificate = this.certificate(listener)
    return certificate?.checkIssued(certificate) ?? false
  }

  /**
   * The URL to give to clients on the same machine: with TLS under a name that the certificate has, since they refuse
   * any other.
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

/** The first DNS name of a certificate that stands for one host. */
function firstName(certificate: X509Certificate): string | undefined {
  const names = (certificate.subjectAltName ?? '').matchAll(/DNS:([A-Za-z0-9.-]+)(?=,|$)/g)
  return names.next().value?.[1]
}
