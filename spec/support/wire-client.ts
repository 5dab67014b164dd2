/** Signed requests to a real server without the help of an SDK; byte for byte where `raw/` sends what this signs. */
import { hash } from 'node:crypto'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { QueryParameter } from '../../planes/s3/request/query-parameters.ts'
import { requestText } from './raw/request-text.ts'
import { presign, signedLines } from './signing.ts'

/** What came back. */
export interface WireAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The body as text. */
  readonly text: string
  /** False when the connection ended before the body did. */
  readonly complete: boolean
  /** `Code` of an error document, or undefined. */
  readonly code: string | undefined
}

/** How a request is signed where it is not as usual; `headers` are all those to be signed beside the usual three. */
export interface Signing {
  readonly accessKey?: string
  readonly secretKey?: string
  readonly region?: string
  /** Milliseconds since the Unix epoch. */
  readonly now?: number
  /** What stands in x-amz-content-sha256; by default the true digest of the body. */
  readonly payloadHash?: string
  readonly host?: string
}

export interface RawRequest {
  /** Signed, all of them; values go out as UTF-8. */
  readonly headers?: readonly HeaderLine[]
  /** Sent and not signed; one byte a character. */
  readonly unsignedHeaders?: readonly HeaderLine[]
  readonly body?: Buffer | string
  /** `false` sends no signature. */
  readonly sign?: false | Signing
}

export interface PresignRequest extends Signing {
  readonly headers?: readonly HeaderLine[]
  readonly query?: readonly QueryParameter[]
  readonly expiresSeconds?: number
}

interface Account {
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  /** Says more of a connection that failed. */
  readonly explain?: ((error: Error) => Promise<Error>) | undefined
}

/**
 * The server closes a connection 8 to 12 s after its last answer went out, and a client that is held up reads that
 * answer late. So a connection is used again only within this time of the last request on it.
 */
const REUSE_MILLISECONDS_MAXIMUM = 4000
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['PUT', 'POST'])

export class WireClient {
  readonly #account: Account
  readonly #agent = new Agent({ keepAlive: true })
  readonly #usedAt = new WeakMap<Socket, number>()

  constructor(account: Account) {
    this.#account = account
  }

  get host(): string {
    return this.#account.endpoint.slice('http://'.length)
  }

  /** @param target path and query exactly as they go into the request line */
  send(method: string, target: string, options: RawRequest = {}): Promise<WireAnswer> {
    const body = Buffer.from(options.body ?? '')
    const signed = this.headersOf(method, target, options).map(utf8Line)
    const headers = [...signed, ...(options.unsignedHeaders ?? [])]
    const hasLength = headers.some(([name]) => name === 'content-length' || name === 'transfer-encoding')
    if (!hasLength && (body.length > 0 || METHODS_WITH_BODY.has(method))) {
      headers.push(['content-length', String(body.length)])
    }
    return this.exchange(method, target, headers, body)
  }

  /** The header lines of a request, signature included. */
  headersOf(method: string, target: string, options: RawRequest = {}): HeaderLine[] {
    const signing = options.sign ?? {}
    if (signing === false) return [['host', this.host], ...(options.headers ?? [])]
    return signedLines({
      method,
      target,
      lines: [['host', signing.host ?? this.host], ...(options.headers ?? [])],
      accessKey: signing.accessKey ?? this.#account.accessKey,
      secretKey: signing.secretKey ?? this.#account.secretKey,
      region: signing.region ?? 'us-east-1',
      now: signing.now ?? Date.now(),
      payloadHash: signing.payloadHash ?? hash('sha256', Buffer.from(options.body ?? ''), 'hex'),
    })
  }

  /** The head of a request as it goes out, one byte a character, for a client that sends the body as it likes. */
  headText(method: string, target: string, options: RawRequest = {}): string {
    const signed = this.headersOf(method, target, options).map(utf8Line)
    return requestText(method, target, [...signed, ...(options.unsignedHeaders ?? [])])
  }

  /** The request target of a presigned URL. `path` is decoded. */
  presigned(method: string, path: string, options: PresignRequest = {}): string {
    const { endpoint, accessKey, secretKey } = this.#account
    const url = presign({
      method,
      path,
      endpoint,
      accessKey,
      secretKey,
      region: 'us-east-1',
      now: Date.now(),
      expiresSeconds: 60,
      ...options,
    })
    return url.slice(endpoint.length)
  }

  /** Sends exactly these header lines. */
  exchange(method: string, target: string, headers: readonly HeaderLine[], body: Buffer): Promise<WireAnswer> {
    const { hostname, port } = new URL(this.#account.endpoint)
    this.#dropOldConnections()
    return new Promise((resolve, reject) => {
      const lines = headers.flat() as unknown as Record<string, string>
      const request = httpRequest({ hostname, port, method, path: target, headers: lines, agent: this.#agent })
      request.on('error', (error) => void this.#explained(error).then(reject))
      request.on('socket', (socket) => this.#usedAt.set(socket, performance.now()))
      request.on('response', (response) => {
        collect(response).then(resolve, reject)
      })
      request.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  async #explained(error: Error): Promise<Error> {
    return (await this.#account.explain?.(error)) ?? error
  }

  #dropOldConnections(): void {
    const usableSince = performance.now() - REUSE_MILLISECONDS_MAXIMUM
    for (const socket of Object.values(this.#agent.freeSockets).flatMap((sockets) => sockets ?? [])) {
      if ((this.#usedAt.get(socket) ?? 0) < usableSince) socket.destroy()
    }
  }
}

/** The bytes of the UTF-8 form, one a character, as the HTTP client of the platform sends them. */
function utf8Line([name, value]: HeaderLine): HeaderLine {
  return [name, Buffer.from(value).toString('latin1')]
}

async function collect(response: IncomingMessage): Promise<WireAnswer> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of response) pieces.push(piece as Buffer)
  } catch {
    // What came before the connection was cut is what the spec wants to see.
  }
  const body = Buffer.concat(pieces)
  const { statusCode = 0, headers, complete } = response
  const answer: WireAnswer = {
    status: statusCode,
    headers,
    body,
    complete,
    // Looked at when it is asked for: the bytes of an object are no text.
    get text() {
      return body.toString()
    },
    get code() {
      return firstElement(this.text, 'Code')
    },
  }
  return answer
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, number: string | undefined, name: string) =>
    number === undefined ? (NAMED[name] ?? whole) : String.fromCodePoint(Number(number)),
  )
}

/** Inner text, unescaped, of every element of a name, in document order. */
export function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^]*?)</${name}>`, 'g'))].map((match) =>
    unescapeXml(match[1] ?? ''),
  )
}

/** Inner text of the first element of a name, or undefined. */
export function firstElement(xml: string, name: string): string | undefined {
  return elements(xml, name)[0]
}

/** Inner XML, still escaped, of every element of a name. */
export function blocks(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, 'g'))].map((match) => match[1] ?? '')
}
