/** Requests to the management listener, and what every answer of it must keep to. */
import type { IncomingHttpHeaders } from 'node:http'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import { API } from '../../planes/management/routing/define-route.ts'
import { WireClient } from './wire-client.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
  /** The body, parsed when it is JSON. */
  readonly json: unknown
  /** `code` of an error envelope, or undefined. */
  readonly code: string | undefined
  readonly message: string | undefined
  readonly requestId: string
}

export interface ApiRequest {
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, instead of `body`. */
  readonly raw?: Buffer | string
  readonly headers?: readonly HeaderLine[]
}

type Listener = (method: string, target: string, answer: ApiAnswer) => void

export function bearer(token: string): string {
  return `Bearer ${token}`
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}

/** A client that sends the same Authorization header with every request, or none. */
export class ApiClient {
  readonly #wire: WireClient
  readonly #authorization: string | undefined
  readonly #listener: Listener | undefined

  private constructor(wire: WireClient, authorization: string | undefined, listener: Listener | undefined) {
    this.#wire = wire
    this.#authorization = authorization
    this.#listener = listener
  }

  /** `listener` hears of every answer. */
  static of(endpoint: string, authorization: string | undefined, listener?: Listener): ApiClient {
    return ApiClient.over(new WireClient({ endpoint, accessKey: '', secretKey: '' }), authorization, listener)
  }

  /** Over connections that are there. */
  static over(wire: WireClient, authorization: string | undefined, listener?: Listener): ApiClient {
    return new ApiClient(wire, authorization, listener)
  }

  /** The same connections with another Authorization header. */
  as(authorization: string | undefined): ApiClient {
    return new ApiClient(this.#wire, authorization, this.#listener)
  }

  /** @param path of the versioned interface, without its prefix, as it goes into the request line */
  call(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    return this.send(method, `${API}${path}`, body === undefined ? {} : { body })
  }

  /** A call that must succeed; gives the JSON of its answer. */
  async get<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.call(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.json as T
  }

  /** @param target path and query as they go into the request line */
  async send(method: string, target: string, { body, raw, headers = [] }: ApiRequest = {}): Promise<ApiAnswer> {
    const bytes = Buffer.from(raw ?? (body === undefined ? '' : JSON.stringify(body)))
    const lines: HeaderLine[] = [['host', this.#wire.host], ...headers]
    if (this.#authorization !== undefined) lines.push(['authorization', this.#authorization])
    const hasLength = lines.some(([name]) => name === 'content-length' || name === 'transfer-encoding')
    if (!hasLength && (bytes.length > 0 || !['GET', 'HEAD', 'DELETE'].includes(method))) {
      lines.push(['content-length', String(bytes.length)])
    }
    const answer = answerOf(await this.#wire.exchange(method, target, lines, bytes))
    this.#listener?.(method, target, answer)
    return answer
  }

  close(): void {
    this.#wire.close()
  }
}

function answerOf({ status, headers, body }: Awaited<ReturnType<WireClient['exchange']>>): ApiAnswer {
  const isJson = headers['content-type'] === 'application/json' && body.length > 0
  const json: unknown = isJson ? JSON.parse(body.toString()) : undefined
  const { error } = (json ?? {}) as { readonly error?: { readonly code?: string; readonly message?: string } }
  const requestId = String(headers['x-request-id'])
  return {
    status,
    headers,
    body,
    get text() {
      return body.toString()
    },
    json,
    code: error?.code,
    message: error?.message,
    requestId,
  }
}
