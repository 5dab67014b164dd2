/** A request to the management listener of a server, as its commands make it: by HTTP or TLS, answered whole. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { type RequestOptions, request as tlsRequest } from 'node:https'
import { localUrl } from '../config/address.ts'
import type { Config } from '../config/config-types.ts'
import { ExitError } from '../exit-codes.ts'
import type { Endpoint } from './management-client.ts'
import { isRefusedCertificate, unreachable } from './unreachable.ts'

const TIMEOUT_MILLISECONDS = 5000

/** Whom a client believes. */
type Trust = Pick<RequestOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'>

export interface ManagementAnswer {
  readonly url: string
  readonly status: number
  readonly text: string
}

/**
 * Gets a path of the management listener that the configuration names.
 *
 * Speaks TLS with `caFile`, or when the listener has its own certificate. By default the listener must show a
 * certificate for the same names as the certificate in its file, trusted by that file; the host name is not checked,
 * since the certificate seldom has the address.
 * @param options `caFile`: PEM file of certificates to believe instead; the host must then be a name that the certificate has.
 *   `authorization`: the header of that name; without one none is sent
 * @throws ExitError `usage` when a file of certificates cannot be used, `unreachable` without an answer from a trusted
 *   server
 */
export async function getManagement(
  config: Config,
  path: string,
  { caFile, authorization }: { readonly caFile?: string | undefined; readonly authorization?: string | undefined } = {},
): Promise<ManagementAnswer> {
  const trust = trustOf(config, caFile)
  const url = `${localUrl(config['api.bind'], trust !== undefined)}${path}`
  try {
    return { url, ...(await get(url, trust, authorization)) }
  } catch (error) {
    if (caFile === undefined && isRefusedCertificate(error as Error)) {
      const advice = 'has the server had a SIGHUP since it was renewed?'
      throw new ExitError('unreachable', `${url} cannot be reached: ${(error as Error).message}; ${advice}`, {
        cause: error,
      })
    }
    throw unreachable(url, timely(error), caFile)
  }
}

/**
 * Gets a path of the management listener at an address, regardless of the configuration.
 * @throws ExitError `unreachable`
 */
export async function getManagementAt({ url: base, certificates }: Endpoint, path: string): Promise<ManagementAnswer> {
  const url = `${base.replace(/\/+$/, '')}${path}`
  const trust = certificates === undefined ? {} : { ca: certificates, allowPartialTrustChain: true }
  try {
    return { url, ...(await get(url, url.startsWith('https:') ? trust : undefined)) }
  } catch (error) {
    throw unreachable(url, timely(error), certificates)
  }
}

/** The error, in words where the time was over. */
function timely(error: unknown): Error {
  const isLate = (error as NodeJS.ErrnoException).code === 'ABORT_ERR'
  return isLate ? new Error(`no answer within ${TIMEOUT_MILLISECONDS / 1000} seconds`) : (error as Error)
}

function trustOf(config: Config, caFile: string | undefined): Trust | undefined {
  if (caFile !== undefined) return { ca: readCertificates(caFile).text, allowPartialTrustChain: true }
  const file = config['api.tls_certificate_file']
  if (file === undefined) return undefined
  const { text, first } = readCertificates(file)
  return {
    ca: text,
    allowPartialTrustChain: true,
    checkServerIdentity(_host, { raw }) {
      const shown = new X509Certificate(raw)
      const same = shown.subject === first.subject && shown.subjectAltName === first.subjectAltName
      return same ? undefined : new Error(`its certificate is for other names than the one in ${file}`)
    },
  }
}

function readCertificates(file: string): { text: string; first: X509Certificate } {
  try {
    const text = readFileSync(file, 'latin1')
    return { text, first: new X509Certificate(text) }
  } catch (error) {
    throw new ExitError('usage', `${file}: no certificate can be read from it: ${(error as Error).message}`)
  }
}

function get(url: string, trust: Trust | undefined, authorization?: string): Promise<{ status: number; text: string }> {
  const headers = authorization === undefined ? {} : { authorization }
  const options = { agent: false, signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS), headers }
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage): void => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    }
    const sent =
      trust === undefined ? plainRequest(url, options, answered) : tlsRequest(url, { ...options, ...trust }, answered)
    sent.on('error', reject)
    sent.end()
  })
}
