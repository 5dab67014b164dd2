import * as http from 'node:http'
import * as https from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Endpoint, type PlainRequest, presignedUrl } from './endpoint.ts'
import { inParallel } from './in-parallel.ts'
import { objectKey } from './object-keys.ts'

export interface Answer {
  readonly status: number
  readonly body: string
}

/** A request was answered with something else than 2xx. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'

  constructor(request: PlainRequest, answer: Answer) {
    super(`${request.method} ${request.path} was answered ${answer.status}: ${answer.body.slice(0, 300)}`)
  }
}

const CONNECTIONS_MAXIMUM = 64
const REQUEST_TIMEOUT_MILLISECONDS = 60_000
const FILL_CONNECTIONS = 32
/** Bytes sent in one piece of a long body. */
const PIECE_BYTES = 256 * 1024

/** Requests that prepare a measurement or check one; load itself comes from wrk. */
export class S3Client {
  readonly #endpoint: Endpoint
  readonly #library: typeof http | typeof https
  readonly #agent: http.Agent

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
    this.#library = endpoint.url.startsWith('https:') ? https : http
    const { certificate } = endpoint
    const trust = certificate === undefined ? {} : { ca: certificate }
    this.#agent = new this.#library.Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAXIMUM, ...trust })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** @throws RefusedError */
  async send(
    request: PlainRequest,
    body: Buffer = Buffer.alloc(0),
    headers: http.OutgoingHttpHeaders = {},
  ): Promise<Answer> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MILLISECONDS)
    const { outgoing, incoming } = this.#open(request, body.length, signal, headers)
    outgoing.end(body)
    return accepted(request, await incoming)
  }

  /** @throws RefusedError, also when it exists */
  async createBucket(bucket: string): Promise<void> {
    const { region } = this.#endpoint
    // The region that is S3's own default must not be named.
    const document =
      region === 'us-east-1'
        ? ''
        : `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`
    await this.send({ method: 'PUT', path: `/${bucket}` }, Buffer.from(document))
  }

  /** @throws RefusedError */
  async enableVersioning(bucket: string): Promise<void> {
    const document = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
    await this.send({ method: 'PUT', path: `/${bucket}`, query: [['versioning', '']] }, Buffer.from(document))
  }

  /**
   * Stores the objects with numbers `from` to `from + count - 1`, all with the same bytes.
   * @throws RefusedError
   */
  async fill(bucket: string, from: number, count: number, body: Buffer): Promise<void> {
    await inParallel(count, FILL_CONNECTIONS, async (index) => {
      await this.send({ method: 'PUT', path: `/${bucket}/${objectKey(from + index)}` }, body)
    })
  }

  /**
   * Sends a long body piece by piece, at the pace of the server.
   * @throws RefusedError
   */
  async upload(path: string, piece: Buffer, bytes: number, signal: AbortSignal): Promise<void> {
    const request: PlainRequest = { method: 'PUT', path }
    const { outgoing, incoming } = this.#open(request, bytes, signal)
    // The answer may come before the end of the body, and is then the better explanation.
    const answer = incoming.then((response) => accepted(request, response))
    const [sent, received] = await Promise.allSettled([pipeline(repeated(piece, bytes), outgoing, { signal }), answer])
    if (received.status === 'rejected') throw received.reason
    if (sent.status === 'rejected') throw sent.reason
  }

  /**
   * Fetches an object and forgets its bytes.
   * @returns how many there were
   * @throws RefusedError
   */
  async download(path: string, signal: AbortSignal): Promise<number> {
    const request: PlainRequest = { method: 'GET', path }
    const { outgoing, incoming } = this.#open(request, undefined, signal)
    outgoing.end()
    const response = await incoming
    if (response.statusCode !== 200) await accepted(request, response)
    let bytes = 0
    for await (const chunk of response) bytes += (chunk as Buffer).length
    return bytes
  }

  #open(
    request: PlainRequest,
    contentLength: number | undefined,
    signal: AbortSignal,
    headers: http.OutgoingHttpHeaders = {},
  ) {
    const length = contentLength === undefined || !hasBody(request) ? {} : { 'content-length': contentLength }
    const outgoing = this.#library.request(presignedUrl(this.#endpoint, request), {
      method: request.method,
      agent: this.#agent,
      signal,
      headers: { ...headers, ...length },
    })
    const incoming = new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve)
      outgoing.once('error', reject)
    })
    // The failure reaches the caller that awaits it; it may happen before that.
    incoming.catch(() => {})
    return { outgoing, incoming }
  }
}

function hasBody({ method }: PlainRequest): boolean {
  return method === 'PUT' || method === 'POST'
}

async function accepted(request: PlainRequest, response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const answer = { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }
  if (answer.status < 200 || answer.status > 299) throw new RefusedError(request, answer)
  return answer
}

function repeated(source: Buffer, bytes: number): Readable {
  const piece = source.subarray(0, PIECE_BYTES)
  let left = bytes
  return new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      const next = Math.min(left, piece.length)
      left -= next
      this.push(next === 0 ? null : piece.subarray(0, next))
    },
  })
}
