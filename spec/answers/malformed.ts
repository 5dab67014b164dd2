/** What is no HTTP, or HTTP that two readers could read in two ways, on both planes. */
import type { Block } from './block.ts'
import type { Talk } from './talk.ts'

const HOST = 'Host: {host}\r\n'
const CLOSE = 'Connection: close\r\n'

const REQUESTS: readonly string[] = [
  `GET / HTTP/1.0\r\n${HOST}\r\n`,
  `GET / HTTP/0.9\r\n${HOST}\r\n`,
  `GET / HTTP/2.0\r\n${HOST}\r\n`,
  `GET / HTTP/1.1x\r\n${HOST}\r\n`,
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`,
  `GET / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  `GET  / HTTP/1.1\r\n${HOST}\r\n`,
  `GET http://{host}/ HTTP/1.1\r\n${HOST}\r\n`,
  `GET * HTTP/1.1\r\n${HOST}\r\n`,
  `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  `CONNECT {host} HTTP/1.1\r\n${HOST}\r\n`,
  `GET key HTTP/1.1\r\n${HOST}\r\n`,
  `GET /\xff HTTP/1.1\r\n${HOST}\r\n`,
  `GET /?\xff HTTP/1.1\r\n${HOST}\r\n`,
  `GET /\x01 HTTP/1.1\r\n${HOST}\r\n`,
  `GET /#fragment HTTP/1.1\r\n${HOST}\r\n`,
  `get / HTTP/1.1\r\n${HOST}\r\n`,
  `G@T / HTTP/1.1\r\n${HOST}\r\n`,
  `${'M'.repeat(40)} / HTTP/1.1\r\n${HOST}\r\n`,
  ` / HTTP/1.1\r\n${HOST}\r\n`,
  `GET / HTTP/1.1\r\n${HOST}: empty name\r\n\r\n`,
  `GET / HTTP/1.1\n${HOST}\r\n`,
  `GET / HTTP/1.1\r\n${HOST}Authorization: a\r\nAuthorization: b\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`,
  `PUT /x HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`,
  `PUT /x HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Content-Length: a\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `PUT /x HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}a: ${'b'.repeat(20_000)}\r\n\r\n`,
  `GET /${'k'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`,
  `GET / HTTP/1.1\r\n${HOST}${Array.from({ length: 120 }, (_, index) => `a${index}: b\r\n`).join('')}\r\n`,
  `GET / HTTP/1.1\r\n${HOST}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
  `GET /health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  `GET /health HTTP/1.1\r\n${HOST}Connection: keep-alive\r\n\r\n`,
  `HEAD /health HTTP/1.1\r\n${HOST}\r\n`,
]

/**
 * What the HTTP library leaves without an answer until it gives the connection up. The client says that nothing more
 * comes, so that nobody waits for that.
 */
const UNANSWERED: readonly string[] = [
  '\r\n\r\n',
  'x\r\n\r\n',
  'GET\r\n\r\n',
  'GET /\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  `GET / HTTP/1.1\r\n${HOST}no colon\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}a b: c\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}a : c\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}a: b\r\n folded\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}a: b\x00c\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}a: b\nc: d\r\n\r\n`,
]

async function malformed(talk: Talk): Promise<void> {
  for (const request of REQUESTS) {
    await talk.raw('s3', request)
    await talk.raw('api', request)
  }
  for (const request of UNANSWERED) {
    await talk.raw('s3', request, true)
    await talk.raw('api', request, true)
  }
}

/** Bodies that end before their length: the client says that nothing more comes. */
async function cutOff(talk: Talk): Promise<void> {
  await talk.s3('PUT', `/${talk.bucket}`)
  const target = `/${talk.bucket}/key`
  const cut = { body: 'short', length: '10', half: true, fresh: true } as const
  await talk.s3('PUT', target, { ...cut, payload: 'UNSIGNED-PAYLOAD' })
  await talk.s3('PUT', `/${talk.bucket}?versioning`, { ...cut, payload: 'UNSIGNED-PAYLOAD' })
  await talk.api('PUT', `/buckets/${talk.bucket}/object/key`, cut)
  await talk.api('POST', '/buckets', cut)
  await talk.s3('GET', target)
  await talk.s3('GET', `/${talk.bucket}?list-type=2`)
}

export const MALFORMED_BLOCKS: readonly Block[] = [
  { name: 'malformed', run: malformed },
  { name: 'cut-off', run: cutOff },
]
