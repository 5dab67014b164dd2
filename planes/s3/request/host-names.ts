import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { HttpRequest } from '../../http/exchange.ts'
import { S3Error } from '../errors/s3-errors.ts'

/** Maximum length of a Host in an error. */
const SHOWN_MAXIMUM = 255
/** RFC 1035 section 2.3.4, as text. */
const DNS_NAME_MAXIMUM = 253

/**
 * The names of this store that a Host header may have. With virtual-hosted addressing the bucket is in front of the
 * name and the path is the key; a store that does not know its names would take the key for a bucket
 * (spec/decisions/0010).
 */
export class HostNames {
  readonly #configured: readonly string[] | undefined
  /** Whether any other name is accepted too, except a name below one of these. */
  readonly #any: boolean
  readonly #hostname: string
  #names: ReadonlySet<string>
  /** The last accepted Host; most requests have the same. */
  #lastHost: string | undefined

  /**
   * @param configured the setting `s3.hostnames`, which replaces the names of the machine and of certificates; with `*` in it
   *   they stay, and any name is accepted that cannot be one of them with a bucket in front
   * @param hostname name of the machine
   */
  constructor(configured: readonly string[] | undefined, hostname: string) {
    this.#any = configured?.includes('*') === true
    this.#configured = configured
    this.#hostname = hostname
    this.#names = this.#namesWith(undefined)
  }

  /** Replaces the names of the previous certificate by the names of the one served from now on. */
  useCertificate(certificate: X509Certificate | undefined): void {
    this.#names = this.#namesWith(certificate)
    this.#lastHost = undefined
  }

  /**
   * Whether a Host names this store, regardless of port (RFC 9110 section 7.2), case and a trailing dot. Always true
   * for an IP address, which cannot have a bucket in front.
   */
  includes(host: string): boolean {
    if (host === this.#lastHost) return true
    const name = nameOf(host)
    if (!this.#names.has(name) && isIP(name) === 0 && !(this.#any && this.#isApart(name))) return false
    this.#lastHost = host
    return true
  }

  /** Whether a name is below no name of this store and below no address: those may have a bucket in front. */
  #isApart(name: string): boolean {
    // The DNS has no longer name, which would cost the square of its labels.
    if (name.length > DNS_NAME_MAXIMUM) return false
    const labels = name.split('.')
    if (labels.includes('') || /^[\d[\]:]/.test(labels.at(-1) ?? '')) return false
    return !labels.some((_, index) => index > 0 && this.#names.has(labels.slice(index).join('.')))
  }

  #namesWith(certificate: X509Certificate | undefined): ReadonlySet<string> {
    const ofMachine = [this.#hostname, ...certificateNames(certificate)]
    const own = this.#any ? [...(this.#configured ?? []), ...ofMachine] : (this.#configured ?? ofMachine)
    return new Set(['localhost', ...own.map(nameOf)])
  }
}

/** Without port, brackets and the dot at the end, in lower case. */
function nameOf(host: string): string {
  const name = host.startsWith('[') ? host.replace(/^\[([^\]]*)\](:\d*)?$/, '$1') : host.replace(/:\d*$/, '')
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase()
}

/**
 * The DNS names of a certificate, without wildcards: those would accept hosts with a bucket in front.
 */
function certificateNames(certificate: X509Certificate | undefined): string[] {
  const names = (certificate?.subjectAltName ?? '').matchAll(/DNS:([\w.-]+)(?=,|$)/g)
  return [...names].map(([, name = '']) => name)
}

/**
 * Refuses a request for another host. Called after authentication, so that others learn nothing about host names.
 * @throws S3Error NotImplemented
 */
export function refuseOtherHost(request: HttpRequest, names: HostNames): void {
  const host = request.header('host') ?? ''
  if (names.includes(host)) return
  throw new S3Error('NotImplemented', {
    message:
      'The Host of the request is not a name of this server. If it is one, start the server with s3.profile=compatible, ' +
      'which takes any, or add it to s3.hostnames (OBJECT_STORE_S3_HOSTNAMES). If the bucket is in front of the name, have the ' +
      'client put it in the path: path style, such as force_path_style, forcePathStyle or addressing_style=path.',
    details: [['Host', host.slice(0, SHOWN_MAXIMUM)]],
    refused: 'host',
  })
}
