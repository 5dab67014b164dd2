import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { rootCertificates } from 'node:tls'
import type { SignedDelivery } from './signing.ts'

/** Bytes of a response that are read and dropped. */
const RESPONSE_BYTES_MAXIMUM = 64 * 1024

/** The kept parts of a response. */
interface TargetAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
}

/**
 * Sends one POST to addresses that were validated, and to no other: the name is not resolved again, redirects are not
 * followed, no proxy is used, and the connection serves this request alone.
 * @param options `addresses`: at least one; `certificates`: PEM of authorities to trust in addition to Node.js's;
 *   `signal`: ends it at the timeout, after the head of a response only its body
 * @throws the error of the connection or of TLS
 */
export function post(
  url: URL,
  { headers, body }: SignedDelivery,
  options: {
    readonly addresses: readonly string[]
    readonly certificates: string | undefined
    readonly signal: AbortSignal
  },
): Promise<TargetAnswer> {
  const { addresses, certificates, signal } = options
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const trust = certificates === undefined ? {} : { ca: [...rootCertificates, certificates] }
  const sent: RequestOptions = { method: 'POST', headers, agent: false, lookup: only(addresses), signal, ...trust }
  return new Promise((resolve, reject) => {
    let answer: TargetAnswer | undefined
    const request = send(url, sent, (response) => {
      const head = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] }
      answer = head
      let received = 0
      response.on('data', (piece: Buffer) => {
        received += piece.length
        if (received > RESPONSE_BYTES_MAXIMUM) response.destroy()
      })
      // The head has decided; the end of the body does not matter.
      response.on('error', () => undefined)
      response.on('close', () => resolve(head))
    })
    request.on('error', (error) => (answer === undefined ? reject(error) : resolve(answer)))
    // A switch of protocols does not answer a POST, and would leave us the socket.
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('the target wants another protocol'))
    })
    request.end(body)
  })
}

/** A lookup that knows these addresses, whatever the name. */
function only(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, { all, family }, callback) => {
    const fitting = family === 4 || family === 6 ? found.filter((one) => one.family === family) : found
    const [first] = fitting
    if (first === undefined) {
      callback(new Error('the target has no address of this family'), '')
    } else if (all === true) {
      callback(null, fitting)
    } else {
      callback(null, first.address, first.family)
    }
  }
}
