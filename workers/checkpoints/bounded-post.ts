import { type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

/** The answer. */
interface BoundedAnswer {
  readonly status: number
  readonly contentType: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface BoundedRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Path of the request as it is sent; undefined: the path of the address. */
  readonly path?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Of the answer. */
  readonly bytesMaximum: number
  /** Ends it. */
  readonly signal: AbortSignal
}

/**
 * Sends one request to an address that the operator has set. Redirects are not followed, no proxy is used, and the
 * connection serves this request alone.
 * @throws the error of the connection or of TLS, and one for an answer that is too large
 */
export function boundedRequest(
  url: URL,
  { method, path, headers, body, bytesMaximum, signal }: BoundedRequest,
): Promise<BoundedAnswer> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const sent = method === 'GET' ? headers : { ...headers, 'content-length': body.length }
  const options = { method, headers: sent, agent: false, signal, ...(path !== undefined && { path }) } as const
  return new Promise((resolve, reject) => {
    const request = send(url, options, (response) => {
      const pieces: Buffer[] = []
      let received = 0
      response.on('data', (piece: Buffer) => {
        received += piece.length
        if (received <= bytesMaximum) return void pieces.push(piece)
        // Destroying the request alone emits no error where the end of the answer has already arrived.
        reject(new Error(`the answer is longer than ${bytesMaximum} bytes`))
        request.destroy()
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'],
          headers: response.headers,
          body: Buffer.concat(pieces),
        }),
      )
    })
    request.on('error', reject)
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('the server wants another protocol'))
    })
    request.end(body)
  })
}

/**
 * Sends one POST within a time limit; a stop of the server ends it.
 * @throws as above, and an error that names the time limit or the stop
 */
export async function timedPost(
  url: URL,
  body: Uint8Array,
  options: {
    readonly contentType: string
    readonly bytesMaximum: number
    readonly timeoutMilliseconds: number
    readonly stop: AbortSignal
  },
): Promise<BoundedAnswer> {
  const { contentType, bytesMaximum, timeoutMilliseconds, stop } = options
  const end = new AbortController()
  const late = new Error(`no answer within ${timeoutMilliseconds / 1000} seconds`)
  const timer = setTimeout(() => end.abort(late), timeoutMilliseconds)
  const stopped = () => end.abort(new Error('the server stops'))
  stop.addEventListener('abort', stopped)
  if (stop.aborted) stopped()
  try {
    const headers = { 'content-type': contentType }
    return await boundedRequest(url, { method: 'POST', headers, body, bytesMaximum, signal: end.signal })
  } catch (error) {
    throw end.signal.aborted ? (end.signal.reason as Error) : error
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', stopped)
  }
}
