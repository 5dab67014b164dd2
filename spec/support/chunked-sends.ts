import type { HeaderLine } from '../../planes/http/exchange.ts'
import { type ChunkedRequest, type ChunkedRequestOptions, chunkedRequest, encodedBody } from './chunked-requests.ts'
import { ACCESS_KEY, SECRET_KEY, type TestServer } from './test-clients.ts'
import type { WireAnswer } from './wire-client.ts'

type Options = Pick<ChunkedRequestOptions, 'form' | 'payload'> & Partial<ChunkedRequestOptions>

/** A request of root to a server, its body in chunks. @param target path and query, neither needing to be encoded */
export function chunkedFor(server: TestServer, target: string, options: Options): ChunkedRequest {
  const [path = '', query = ''] = target.split('?')
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('=') as [string, string])
  const { host } = server.wire
  return chunkedRequest({ accessKey: ACCESS_KEY, secretKey: SECRET_KEY, host, path, query: pairs, ...options })
}

/** Sends it; with `transfer-encoding: chunked` in place of a length unless `isSized`. */
export function sendChunked(
  server: TestServer,
  target: string,
  { headers, parts }: ChunkedRequest,
  isSized = true,
): Promise<WireAnswer> {
  const body = encodedBody(parts)
  const framing: HeaderLine = isSized ? ['content-length', String(body.length)] : ['transfer-encoding', 'chunked']
  return server.wire.exchange('PUT', target, [...headers, framing], body)
}

/** Makes and sends one. */
export function putChunked(server: TestServer, target: string, options: Options, isSized = true): Promise<WireAnswer> {
  return sendChunked(server, target, chunkedFor(server, target, options), isSized)
}
