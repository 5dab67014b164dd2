/** Requests byte for byte over connections that stay open, and answers as they came. */
import { connect, type Socket } from 'node:net'

/** What came back. Text has one byte a character. */
export interface RawAnswer {
  readonly status: number
  /** Names in lower case; of a repeated name the last value. */
  readonly headers: ReadonlyMap<string, string>
  /** Status line and header lines. */
  readonly head: string
  readonly body: string
  /** Code of the error document or envelope, or undefined. */
  readonly code: string | undefined
  readonly requestId: string
}

/** An answer found at the start of what was received, and how many bytes it has. */
interface Parsed {
  readonly answer: RawAnswer
  readonly length: number
  readonly last: boolean
}

const HEAD_END = '\r\n\r\n'

/** @param method of the request: the answer to HEAD has no body whatever its head says */
function parseAnswer(text: string, method: string, ended: boolean): Parsed | undefined {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return undefined
  const head = text.slice(0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? Number.NaN)
  if (Number.isNaN(status)) throw new Error(`not an answer: ${JSON.stringify(text.slice(0, 100))}`)
  const headers = headersOf(head)
  const start = end + HEAD_END.length
  // An interim answer, such as 100 Continue, is followed by the real one.
  if (status < 200) {
    const rest = parseAnswer(text.slice(start), method, ended)
    return rest === undefined ? undefined : { ...rest, length: rest.length + start }
  }
  const body = bodyOf(text, start, method, status, headers, ended)
  if (body === undefined) return undefined
  const last = headers.get('connection')?.toLowerCase() === 'close'
  const requestId = headers.get('x-amz-request-id') ?? headers.get('x-request-id') ?? ''
  return {
    answer: { status, headers, head, body: body.text, code: codeOf(body.text), requestId },
    length: body.end,
    last,
  }
}

function headersOf(head: string): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return headers
}

function bodyOf(
  text: string,
  start: number,
  method: string,
  status: number,
  headers: ReadonlyMap<string, string>,
  ended: boolean,
): { readonly text: string; readonly end: number } | undefined {
  if (method === 'HEAD' || status === 204 || status === 304) return { text: '', end: start }
  if (headers.get('transfer-encoding') === 'chunked') return chunkedBody(text, start)
  const length = headers.get('content-length')
  if (length === undefined) return ended ? { text: text.slice(start), end: text.length } : undefined
  const end = start + Number(length)
  return text.length < end ? undefined : { text: text.slice(start, end), end }
}

function chunkedBody(text: string, start: number): { readonly text: string; readonly end: number } | undefined {
  let body = ''
  for (let position = start; ; ) {
    const line = text.indexOf('\r\n', position)
    if (line === -1) return undefined
    const size = Number.parseInt(text.slice(position, line), 16)
    if (Number.isNaN(size)) throw new Error(`not a chunk: ${JSON.stringify(text.slice(position, line))}`)
    const end = line + 2 + size
    if (text.length < end + 2) return undefined
    if (size === 0) return { text: body, end: end + 2 }
    body += text.slice(line + 2, end)
    position = end + 2
  }
}

function codeOf(body: string): string | undefined {
  if (body.startsWith('<')) return /<Code>(\w+)<\/Code>/.exec(body)?.[1]
  return body.startsWith('{"error"') ? /"code":"(\w+)"/.exec(body)?.[1] : undefined
}

/** What became of a request: its answer, or how the connection ended without one. */
export type Outcome =
  | { readonly answer: RawAnswer }
  | { readonly answer: undefined; readonly ended: 'closed' | 'silent'; readonly received: string }

const SILENCE_MILLISECONDS = 30_000
const LARGE_BYTES = 1024 ** 2
const LINE_FEED = 0x0a

/** One connection at a time, opened again when the server has closed it. One request at a time. */
export class Lane {
  readonly #port: number
  #socket: Socket | undefined
  #received = ''
  /** Whether a large answer has clearly not ended: reading it again for each piece would take longer than sending it. */
  #isMidway = false
  #ended = false
  #answered = 0
  #changed: () => void = () => {}

  constructor(port: number) {
    this.#port = port
  }

  /** Bytes that came although nothing was asked. */
  get surplus(): string {
    return this.#received
  }

  async exchange(request: Buffer | string, method: string): Promise<Outcome> {
    for (;;) {
      const reused = this.#socket !== undefined && this.#answered > 0
      this.#open()
      this.#socket?.write(typeof request === 'string' ? Buffer.from(request, 'latin1') : request)
      const outcome = await this.#outcome(method)
      // The server may close a connection that was idle just when it is used again.
      const stale = reused && outcome.answer === undefined && outcome.ended === 'closed' && outcome.received === ''
      if (!stale) return outcome
    }
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #open(): void {
    if (this.#socket !== undefined && !this.#ended) return
    this.close()
    this.#received = ''
    this.#ended = false
    this.#answered = 0
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    socket.setTimeout(SILENCE_MILLISECONDS)
    socket.on('data', (data) => {
      if (socket !== this.#socket) return
      this.#received += data.toString('latin1')
      this.#isMidway = this.#received.length > LARGE_BYTES && data.at(-1) !== LINE_FEED
      this.#changed()
    })
    socket.on('timeout', () => socket.destroy())
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (socket !== this.#socket) return
      this.#ended = true
      this.#changed()
    })
  }

  async #outcome(method: string): Promise<Outcome> {
    const started = performance.now()
    for (;;) {
      const waits = this.#isMidway && !this.#ended
      const parsed = waits ? undefined : parseAnswer(this.#received, method, this.#ended)
      if (parsed !== undefined) {
        this.#received = this.#received.slice(parsed.length)
        this.#answered += 1
        if (parsed.last) this.close()
        return { answer: parsed.answer }
      }
      if (this.#ended) {
        const ended = performance.now() - started >= SILENCE_MILLISECONDS ? 'silent' : 'closed'
        return { answer: undefined, ended, received: this.#received }
      }
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }
}

/** Does the work for each item, over so many connections at once. */
export async function overLanes<T>(
  port: number,
  count: number,
  items: readonly T[],
  work: (lane: Lane, item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const run = async (): Promise<void> => {
    const lane = new Lane(port)
    try {
      while (next < items.length) {
        const item = items[next] as T
        next += 1
        await work(lane, item)
      }
    } finally {
      lane.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, run))
}
