/** Talks to the management listener of a running server, by HTTP or TLS. */
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { ExitError, type ExitName } from '../exit-codes.ts'
import { visibleText } from '../terminal/visible-text.ts'
import { unreachable } from './unreachable.ts'

/** A server and the credentials to use. */
export interface Endpoint {
  /** Base address of the management listener, such as `http://127.0.0.1:7601`. */
  readonly url: string
  /** The header Authorization; undefined: none is sent. */
  readonly authorization: string | undefined
  /** PEM text of certificates to trust. */
  readonly certificates: string | undefined
}

export interface ClientRequest {
  readonly method: string
  /** After `/api/v1`, encoded; see `pathOf`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Under which the server records the request; by default it makes an id. */
  readonly requestId?: string | undefined
  /** Sent unchanged; length in bytes. */
  readonly upload?: { readonly stream: Readable; readonly length: number; readonly contentType?: string }
}

const MANAGEMENT_ADDRESS = 'commands ask the management listener (api.bind, port 7601 unless set), not that of S3'
/** Where to find a token; each line can be pasted. */
const NO_TOKEN = `no token was sent: set OBJECT_STORE_TOKEN, or use --token-file or --profile. After a quick start:
  . ./data.secrets.env && export OBJECT_STORE_TOKEN="$OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN"
With the root credential alone, in OBJECT_STORE_ROOT_ACCESS_KEY and OBJECT_STORE_ROOT_SECRET_KEY:
  object-store token issue NAME ROLE --root`

const SILENCE_MILLISECONDS = 60_000

/** A path of encoded segments; slashes in a key stay. */
export function pathOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodedPart(segment)}`).join('')
}

/** Percent-encodes a part of a path, except its slashes. */
export function encodedPart(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/')
}

function exitOf(status: number, code: string | undefined): ExitName {
  if (status === 400) return 'usage'
  if (status === 401 || status === 403) return 'denied'
  if (code === 'OBJECT_DAMAGED') return 'storeDamaged'
  if (code === 'TREES_DAMAGED') return 'projectionsFailed'
  if (status === 404) return 'notFound'
  return status === 507 ? 'diskFull' : 'failed'
}

/** A client of one server. */
export class ManagementClient {
  readonly #endpoint: Endpoint

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
  }

  /**
   * The answer as JSON; undefined if it has no body.
   * @throws ExitError `denied`, `notFound`, `failed` with the message of the server, `unreachable`
   */
  async json(request: ClientRequest): Promise<unknown> {
    const response = await this.open(request)
    const text = await textOf(response).catch(brokenOff)
    if (text === '') return undefined
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new ExitError('failed', `${this.#endpoint.url} did not answer with JSON`, { cause: error })
    }
  }

  /** The answer as it is sent. @throws ExitError as `json` */
  async text(request: ClientRequest): Promise<string> {
    return (await this.bytes(request)).toString()
  }

  /** The answer as it is sent. @throws ExitError as `json` */
  async bytes(request: ClientRequest): Promise<Buffer> {
    return bytesOf(await this.open(request)).catch(brokenOff)
  }

  /** The answer as a stream; its status is a success. @throws ExitError as `json` */
  async open(request: ClientRequest): Promise<IncomingMessage> {
    const response = await this.#send(request)
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) return response
    const text = await textOf(response).catch(brokenOff)
    const message = messageOf(status, text)
    throw new ExitError(exitOf(status, codeOf(text)), status === 401 ? `${message}; ${this.#tokenAdvice()}` : message)
  }

  #tokenAdvice(): string {
    const { authorization } = this.#endpoint
    if (authorization?.startsWith('Basic ')) return 'is the root credential that of another server?'
    if (authorization !== undefined) return 'is the token of another server, or has it expired?'
    return NO_TOKEN
  }

  #send({ method, path, query = {}, json, upload, requestId }: ClientRequest): Promise<IncomingMessage> {
    const { url, authorization, certificates } = this.#endpoint
    const base = new URL(url)
    const asked = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    )
    // Not a URL object, which would resolve `..` in a key.
    const target = `${base.pathname.replace(/\/+$/, '')}/api/v1${path}${asked.size === 0 ? '' : `?${asked}`}`
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json))
    const headers: Record<string, string> = { accept: 'application/json' }
    if (authorization !== undefined) headers['authorization'] = authorization
    if (requestId !== undefined) headers['x-request-id'] = requestId
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (upload?.contentType !== undefined) headers['content-type'] = upload.contentType
    headers['content-length'] = String(body?.length ?? upload?.length ?? 0)
    const { hostname, port } = base
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const options = { host, port, path: target, method, headers, agent: false as const, timeout: SILENCE_MILLISECONDS }
    return new Promise((resolve, reject) => {
      const sent =
        base.protocol === 'https:'
          ? tlsRequest({ ...options, ...trust(certificates) }, resolve)
          : plainRequest(options, resolve)
      sent.on('error', (error) => reject(unreachable(url, error, certificates)))
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${SILENCE_MILLISECONDS / 1000} seconds`)))
      if (upload === undefined) sent.end(body)
      else upload.stream.on('error', (error) => sent.destroy(error)).pipe(sent)
    })
  }
}

function trust(certificates: string | undefined): { ca?: string; allowPartialTrustChain?: boolean } {
  return certificates === undefined ? {} : { ca: certificates, allowPartialTrustChain: true }
}

async function textOf(response: Readable): Promise<string> {
  return (await bytesOf(response)).toString()
}

async function bytesOf(response: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** @throws ExitError `failed`, for an answer that was cut off */
export function brokenOff(error: unknown): never {
  throw new ExitError('failed', `the answer broke off: ${(error as Error).message}`, { cause: error })
}

/** The code of an error envelope; undefined for another answer. */
function codeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error: { code: string } }).error.code
  } catch {
    return undefined
  }
}

/** The message of an error envelope with code and request id. */
function messageOf(status: number, text: string): string {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string; request_id: string } }
    return visibleText(`${error.message} (${error.code}, request ${error.request_id})`)
  } catch {
    const isS3 = /^(<\?xml[^>]*>\s*)?<Error>/.test(text)
    return `the server answered with HTTP ${status}${isS3 ? ` and an error of S3; ${MANAGEMENT_ADDRESS}` : ''}`
  }
}
