import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

/** What came back. */
interface BoundedAnswer {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: Buffer
}

/**
 * Sends one POST to an address that the operator has set. Redirects are not followed, no proxy is used, and the connection
 * serves this request alone.
 * @param options `bytesMaximum`: of the answer; `signal` ends it
 * @throws the error of the connection or of TLS, and one for an answer that is too large
 */
export function boundedPost(
  url: URL,
  body: Uint8Array,
  options: { readonly contentType: string; readonly bytesMaximum: number; readonly signal: AbortSignal },
): Promise<BoundedAnswer> {
  const { contentType, bytesMaximum, signal } = options
  const headers = { 'content-type': contentType, 'content-length': body.length }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST', headers, agent: false, signal }, (response) => {
      const pieces: Buffer[] = []
      let received = 0
      response.on('data', (piece: Buffer) => {
        received += piece.length
        if (received > bytesMaximum) request.destroy(new Error(`the answer is longer than ${bytesMaximum} bytes`))
        else pieces.push(piece)
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'],
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
