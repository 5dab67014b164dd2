/**
 * What no client means well with, byte for byte: one table for the specification of the HTTP server and for the attack
 * on a whole one. Nothing in it may get more than one answer, whatever that is.
 */
import { HEADER_BYTES_READ_MAXIMUM, HEADER_LINES_MAXIMUM } from '../../planes/http/limits/header-limits.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { head } from '../support/raw/request-text.ts'

export interface MalformedRequest {
  readonly name: string
  /** One byte a character. */
  readonly sent: string
  /**
   * The status of the refusal, after which the connection closes; `silence`: nothing, until the connection closes;
   * `closed`: at most one answer, whichever of the two requests in it was read, and the connection closes; `handled`:
   * well-formed after all, so that the handler says what it thinks of it.
   */
  readonly answer: number | 'silence' | 'closed' | 'handled'
  /** The library refuses it by itself: the answer has no request id, and the form of no plane. */
  readonly isOfLibrary: boolean
}

type Row = readonly [name: string, sent: string, answer: MalformedRequest['answer']]

const CHUNKED = 'Transfer-Encoding: chunked'
const LAST_CHUNK = '0\r\n\r\n'
const SMUGGLED = head('GET /smuggled')
const HEADER_LONG = 65_536
const HEADERS_MANY = 10_000

function chunked(body: string, ...lines: string[]): string {
  return head('PUT /', CHUNKED, ...lines) + body
}

const REQUEST_LINES: readonly Row[] = [
  ['no method', head(' /'), 400],
  ['method of symbols', head('{} /'), 400],
  ['method too long', head(`${'A'.repeat(33)} /`), 400],
  ['method in small letters', head('get /'), 'handled'],
  ['raw UTF-8 in the path', head('GET /caf\u00c3\u00a9'), 400],
  ['raw Latin-1 in the path', head('GET /\u00ff'), 400],
  ['DEL in the path', head('GET /\u007f'), 400],
  ['raw UTF-8 in the query', head('GET /?caf\u00c3\u00a9'), 400],
  ['NUL in the path', head('GET /a\0b'), 505],
  ['fragment in the target', head('GET /a#b'), 'handled'],
  ['backslash in the path', head('GET /a\\b'), 'handled'],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: localhost\r\n\r\n', 505],
  ['HTTP/1.0 without a host', 'GET / HTTP/1.0\r\n\r\n', 505],
  ['HTTP/1.0 and keep-alive', 'GET / HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n', 505],
  ['HTTP/0.9', 'GET /\r\n', 'silence'],
  ['HTTP/0.9 with more', `GET /\r\n\r\n${SMUGGLED}`, 'silence'],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: localhost\r\n\r\n', 505],
  ['HTTP/2 by its name', 'GET / HTTP/2\r\nHost: localhost\r\n\r\n', 505],
  ['preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
  ['version in small letters', 'GET / http/1.1\r\nHost: localhost\r\n\r\n', 505],
  ['version without a number', 'GET / HTTP/\r\nHost: localhost\r\n\r\n', 505],
  ['hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + '\x00'.repeat(64) + '\r\n\r\n', 505],
  ['target without slash', head('GET a'), 505],
  ['target in absolute form', head('GET http://localhost/'), 505],
  ['target in absolute form of elsewhere', head('GET http://169.254.169.254/latest/meta-data'), 505],
  ['CONNECT', head('CONNECT localhost:22'), 505],
  ['target of a star', head('OPTIONS *'), 505],
  ['tab in the target', head('GET /a\tb'), 505],
  ['blank in the target', head('GET /a b'), 505],
  ['two blanks before the version', 'GET /  HTTP/1.1\r\nHost: localhost\r\n\r\n', 505],
  ['tabs between the parts', 'GET\t/\tHTTP/1.1\r\nHost: localhost\r\n\r\n', 505],
  ['empty lines alone', '\r\n\r\n\r\n\r\n', 'silence'],
  ['empty line first', `\r\n${head('GET /')}`, 'silence'],
  ['target of 64 KiB', head(`GET /${'a'.repeat(HEADER_LONG)}`), 431],
  ['query of 64 KiB', head(`GET /?${'a'.repeat(HEADER_LONG)}`), 431],
]

const FRAMINGS: readonly Row[] = [
  ['two lengths', `${head('PUT /', 'Content-Length: 3', 'Content-Length: 5')}abc`, 400],
  ['two equal lengths', `${head('PUT /', 'Content-Length: 3', 'Content-Length: 3')}abc`, 400],
  ['list of lengths', `${head('PUT /', 'Content-Length: 3, 3')}abc`, 400],
  ['signed length', `${head('PUT /', 'Content-Length: +3')}abc`, 400],
  ['negative length', `${head('PUT /', 'Content-Length: -3')}abc`, 400],
  ['length in hex', `${head('PUT /', 'Content-Length: 0x3')}abc`, 400],
  ['length with a fraction', `${head('PUT /', 'Content-Length: 3.0')}abc`, 400],
  ['empty length', head('PUT /', 'Content-Length:'), 400],
  ['length of 16 digits', head('PUT /', 'Content-Length: 9007199254740993'), 400],
  ['length of 2 to the 64', head('PUT /', 'Content-Length: 18446744073709551619'), 400],
  ['length of 64 KiB of digits', head('PUT /', `Content-Length: ${'1'.repeat(HEADER_LONG)}`), 431],
  ['length and chunks', `${head('PUT /', 'Content-Length: 3', CHUNKED)}3\r\nabc\r\n${LAST_CHUNK}`, 400],
  ['chunks and length', `${head('PUT /', CHUNKED, 'Content-Length: 3')}3\r\nabc\r\n${LAST_CHUNK}`, 400],
  ['length 0, chunks, and a request', `${head('PUT /', 'Content-Length: 0', CHUNKED)}${LAST_CHUNK}${SMUGGLED}`, 400],
  ['two codings', `${head('PUT /', 'Transfer-Encoding: gzip', CHUNKED)}${LAST_CHUNK}`, 400],
  ['chunked twice', `${head('PUT /', CHUNKED, CHUNKED)}${LAST_CHUNK}`, 400],
  ['another coding', `${head('PUT /', 'Transfer-Encoding: gzip')}${LAST_CHUNK}`, 501],
  ['coding list', `${head('PUT /', 'Transfer-Encoding: gzip, chunked')}${LAST_CHUNK}`, 501],
  ['coding list of chunked', `${head('PUT /', 'Transfer-Encoding: chunked, chunked')}${LAST_CHUNK}`, 501],
  ['identity coding', `${head('PUT /', 'Transfer-Encoding: identity')}abc`, 501],
  ['empty coding', head('PUT /', 'Transfer-Encoding:'), 501],
  ['coding misspelled', `${head('PUT /', 'Transfer-Encoding: xchunked')}${LAST_CHUNK}`, 501],
  ['coding with a vertical tab', `${head('PUT /', 'Transfer-Encoding: \x0bchunked')}${LAST_CHUNK}`, 'silence'],
  ['chunk size that is no number', chunked('zz\r\nabc\r\n0\r\n\r\n'), 'handled'],
  ['chunk size of 20 digits', chunked(`${'f'.repeat(20)}\r\nabc\r\n`), 'handled'],
  ['chunk size that is negative', chunked('-3\r\nabc\r\n0\r\n\r\n'), 'handled'],
  ['chunk size in 0x', chunked('0x3\r\nabc\r\n0\r\n\r\n'), 'handled'],
  ['chunk longer than its size', chunked('3\r\nabcdef\r\n0\r\n\r\n'), 'handled'],
  ['chunk lines that end in LF', chunked('3\nabc\n0\n\n'), 'handled'],
  ['chunk extension', chunked('3;a=b\r\nabc\r\n0\r\n\r\n'), 'handled'],
  ['chunk extension of 64 KiB', chunked(`3;${'a'.repeat(HEADER_LONG)}\r\nabc\r\n0\r\n\r\n`), 'handled'],
  ['trailer', chunked('3\r\nabc\r\n0\r\nContent-Length: 100\r\n\r\n'), 'closed'],
]

const HEADERS: readonly Row[] = [
  ['two hosts', head('GET /', 'Host: localhost'), 400],
  ['two other hosts', head('GET /', 'Host: elsewhere'), 400],
  ['two authorizations', head('GET /', 'Authorization: a', 'Authorization: b'), 400],
  ['no host', 'GET / HTTP/1.1\r\nX-A: a\r\n\r\n', 400],
  ['no headers', 'GET / HTTP/1.1\r\n\r\n', 'silence'],
  ['empty host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n', 'handled'],
  ['host of symbols', 'GET / HTTP/1.1\r\nHost: a/b?c@d:e\r\n\r\n', 'handled'],
  ['host of 15 KiB', `GET / HTTP/1.1\r\nHost: ${'a'.repeat(15_000)}\r\n\r\n`, 'handled'],
  ['blank before the colon', head('GET /', 'X-A : a'), 'silence'],
  ['blank before the colon of a length', `${head('PUT /', 'Content-Length : 3')}abc`, 'silence'],
  ['line that begins with a blank', head('GET /', 'X-A: a', ' folded'), 'silence'],
  ['line that begins with a tab', head('GET /', 'X-A: a', '\tfolded'), 'silence'],
  ['first line that begins with a blank', 'GET / HTTP/1.1\r\n Host: localhost\r\n\r\n', 'silence'],
  ['line without a colon', head('GET /', 'X-A'), 'silence'],
  // uWebSockets.js takes it for the end of the list: what stands behind it is not there, for it and for us.
  ['line without a name', head('GET /', ': a'), 'handled'],
  ['line without a name before the host', 'GET / HTTP/1.1\r\n: a\r\nHost: localhost\r\n\r\n', 400],
  ['lines that end in LF', 'GET / HTTP/1.1\nHost: localhost\n\n', 505],
  ['one line that ends in LF', 'GET / HTTP/1.1\r\nX-A: a\nHost: localhost\r\n\r\n', 'silence'],
  ['lines that end in CR', 'GET / HTTP/1.1\rHost: localhost\r\r', 505],
  ['CR in a value', head('GET /', 'X-A: a\rb'), 'silence'],
  ['NUL in a value', head('GET /', 'X-A: a\0b'), 'silence'],
  ['NUL in a name', head('GET /', 'X-\0A: a'), 'silence'],
  ['control character in a value', head('GET /', 'X-A: a\x01b'), 'silence'],
  ['bytes that are not UTF-8 in a value', head('GET /', 'X-A: a\xff\xfeb'), 'handled'],
  ['bytes above ASCII in a name', head('GET /', 'X-\xc3\xa9: a'), 'silence'],
  ['name of symbols', head('GET /', 'X(A): a'), 'silence'],
  ['head beyond the bound', head('GET /', `X-A: ${'a'.repeat(17_000)}`), 431],
  ['target beyond the bound', head(`GET /${'a'.repeat(17_000)}`), 431],
  ['head at what the library reads', head('GET /', `X-A: ${'a'.repeat(HEADER_BYTES_READ_MAXIMUM - 44)}`), 431],
  ['head far beyond the bound', head('GET /', `X-A: ${'a'.repeat(HEADER_BYTES_READ_MAXIMUM)}`), 431],
  ['header of 64 KiB', head('GET /', `X-A: ${'a'.repeat(HEADER_LONG)}`), 431],
  ['name of 64 KiB', head('GET /', `${'X'.repeat(HEADER_LONG)}: a`), 431],
  ['too many lines', head('GET /', ...Array.from({ length: HEADER_LINES_MAXIMUM }, () => 'X-A: a')), 431],
  ['10,000 lines', head('GET /', ...Array.from({ length: HEADERS_MANY }, () => 'X-A: a')), 431],
  ['expectation that is unknown', head('PUT /', 'Expect: a-miracle', 'Content-Length: 0'), 'handled'],
  [
    'upgrade to HTTP/2',
    head('GET /', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMA'),
    'handled',
  ],
  [
    'upgrade to a web socket',
    head('GET /', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: AAAA'),
    'handled',
  ],
]

const SMUGGLING: readonly Row[] = [
  [
    'two lengths around a request',
    `${head('PUT /', 'Content-Length: 3', `Content-Length: ${3 + SMUGGLED.length}`)}abc${SMUGGLED}`,
    'closed',
  ],
  [
    'length, chunks, and a request',
    `${head('PUT /', `Content-Length: ${5 + SMUGGLED.length}`, CHUNKED)}${LAST_CHUNK}${SMUGGLED}`,
    400,
  ],
  ['fold before a length', `${head('PUT /', 'X-A: a', ' Content-Length: 0')}${SMUGGLED}`, 'silence'],
  ['LF before a length', `${head('PUT /', 'X-A: a\nContent-Length: 3')}${SMUGGLED}`, 'silence'],
  ['a raw byte in the path and a request', `${head('GET /d\u007f')}${SMUGGLED}`, 'closed'],
  ['absolute form and a request', `${head('GET http://localhost/')}${SMUGGLED}`, 505],
  ['another coding and a request', `${head('PUT /', 'Transfer-Encoding: gzip')}${SMUGGLED}`, 'closed'],
  // The library takes this size for 0x0badb, as if the extension were digits.
  [
    'a size that an extension changes',
    chunked(`0;a=b\r\n\r\n${'x'.repeat(0xbadb - 2)}\r\n${LAST_CHUNK}${SMUGGLED}`),
    'closed',
  ],
  ['a chunk of nothing and a request', chunked(`${LAST_CHUNK}${SMUGGLED}`), 'closed'],
]

/** Headers that something is read from. */
const READ_HEADERS: readonly string[] = [
  ['authorization', 'content-type', 'content-md5', 'content-encoding', 'range', 'if-match', 'if-none-match'],
  ['if-modified-since', 'if-unmodified-since', 'date', 'origin', 'access-control-request-method', 'expect'],
  ['x-amz-date', 'x-amz-content-sha256', 'x-amz-copy-source', 'x-amz-security-token', 'x-amz-decoded-content-length'],
  ['x-amz-object-lock-mode', 'x-amz-meta-a', 'x-amz-checksum-crc32', 'x-request-id', 'x-forwarded-for', 'connection'],
].flat()

const SIZES: readonly Row[] = READ_HEADERS.flatMap((name): Row[] => [
  [`${name} that is empty`, head('GET /', `${name}:`), 'handled'],
  [`${name} of a character`, head('GET /', `${name}: a`), 'handled'],
  [`${name} of 15 KiB`, head('GET /', `${name}: ${'a'.repeat(15_000)}`), 'handled'],
  [`${name} of 64 KiB`, head('GET /', `${name}: ${'a'.repeat(HEADER_LONG)}`), 431],
])

/** Where the parser of Node is of another opinion; it is the stricter one but for blanks that change nothing. */
const NODE_ANSWERS: ReadonlyMap<string, MalformedRequest['answer']> = new Map([
  ...namesOf(
    400,
    ['method in small letters', 'NUL in the path', 'preface of HTTP/2', 'version in small letters', 'hello of TLS'],
    ['target without slash', 'target in absolute form', 'target in absolute form of elsewhere', 'CONNECT'],
    ['target of a star', 'tab in the target', 'blank in the target', 'tabs between the parts'],
    ['length of 64 KiB of digits', 'coding list of chunked', 'coding with a vertical tab', 'no headers'],
    ['blank before the colon', 'blank before the colon of a length', 'line that begins with a blank'],
    ['line that begins with a tab', 'first line that begins with a blank', 'line without a colon'],
    ['line without a name', 'one line that ends in LF', 'lines that end in CR', 'CR in a value', 'NUL in a value'],
    ['NUL in a name', 'control character in a value', 'bytes above ASCII in a name', 'name of symbols'],
    ['fold before a length', 'LF before a length', 'absolute form and a request'],
  ),
  ...namesOf('closed', ['HTTP/0.9 with more', 'empty coding', 'HTTP/0.9', 'empty lines alone']),
  ...namesOf('handled', ['two blanks before the version', 'empty line first']),
])

/** Malformed for uWebSockets.js, which calls nobody: with 505, and with 431 what it does not read, all is its own. */
const LIBRARY_REFUSES: ReadonlySet<string> = new Set(
  [
    ['signed length', 'negative length', 'list of lengths', 'length in hex', 'length with a fraction'],
    ['length of 2 to the 64', 'length and chunks', 'chunks and length', 'length 0, chunks, and a request'],
    ['length, chunks, and a request', 'no host', 'line without a name before the host'],
    ['too many lines', '10,000 lines'],
  ].flat(),
)

function isOfLibrary(name: string, sent: string, answer: MalformedRequest['answer']): boolean {
  if (HTTP_DRIVER !== 'uws') return false
  return answer === 505 || LIBRARY_REFUSES.has(name) || (answer === 431 && sent.length > HEADER_BYTES_READ_MAXIMUM)
}

function namesOf(
  answer: MalformedRequest['answer'],
  ...names: readonly (readonly string[])[]
): readonly (readonly [string, MalformedRequest['answer']])[] {
  return names.flat().map((name) => [name, answer])
}

export const MALFORMED_REQUESTS: readonly MalformedRequest[] = [
  ...REQUEST_LINES,
  ...FRAMINGS,
  ...HEADERS,
  ...SMUGGLING,
  ...SIZES,
].map(([name, sent, answer]) => ({
  name,
  sent,
  answer: HTTP_DRIVER === 'uws' ? answer : (NODE_ANSWERS.get(name) ?? answer),
  isOfLibrary: isOfLibrary(name, sent, answer),
}))
