/** Requests byte for byte over a connection that stays open, and answers as they came. */
import { connect, type Socket } from 'node:net'

export type Line = readonly [name: string, value: string]

/** An answer as it was on the wire. */
export interface WireAnswer {
  readonly status: number
  /** What the status line says after the number. */
  readonly reason: string
  /** In their order, names and values as they came. */
  readonly lines: readonly Line[]
  /** Without its framing. */
  readonly body: Buffer
  /** Statuses of the interim answers before it. */
  readonly interim: readonly number[]
}

/** What became of a request: its answer, or how the connection ended without one. */
export type WireOutcome = WireAnswer | { readonly ended: 'closed' | 'silent'; readonly received: string }

export interface Exchange {
  readonly bytes: Buffer
  readonly method: string
  /** Opens a connection of its own, which is closed afterwards. */
  readonly fresh?: boolean
  /** Says after the request that nothing more comes. */
  readonly half?: boolean
}

const SILENCE_MILLISECONDS = 20_000
const HEAD_END = '\r\n\r\n'

/** One connection at a time, opened again when the server has closed it; one request at a time. */
export class Connection {
  readonly #port: number
  #socket: Socket | undefined
  #received: Buffer = Buffer.alloc(0)
  #ended = false
  #silent = false
  #changed: () => void = () => {}

  constructor(port: number) {
    this.#port = port
  }

  async exchange(exchange: Exchange): Promise<WireOutcome> {
    if (exchange.fresh === true) this.close()
    for (;;) {
      const reused = this.#socket !== undefined && !this.#ended
      this.#open()
      if (exchange.half === true) this.#socket?.end(exchange.bytes)
      else this.#socket?.write(exchange.bytes)
      const outcome = await this.#outcome(exchange.method)
      // The server may close a connection that was idle just when it is used again.
      const stale = reused && 'ended' in outcome && outcome.ended === 'closed' && outcome.received === ''
      if (stale) continue
      if (exchange.fresh === true) this.close()
      return outcome
    }
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #open(): void {
    if (this.#socket !== undefined && !this.#ended) return
    this.close()
    this.#received = Buffer.alloc(0)
    this.#ended = false
    this.#silent = false
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    this.#socket = socket
    const mine = (act: () => void) => () => {
      if (socket !== this.#socket) return
      act()
      this.#changed()
    }
    const end = mine(() => {
      this.#ended = true
    })
    socket.setTimeout(SILENCE_MILLISECONDS)
    socket.on('data', (data) => mine(() => (this.#received = Buffer.concat([this.#received, data])))())
    socket.on('timeout', () => {
      this.#silent = true
      socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('end', end)
    socket.on('close', end)
  }

  async #outcome(method: string): Promise<WireOutcome> {
    for (;;) {
      const found = parseAnswer(this.#received, method, this.#ended, [])
      if (found !== undefined) {
        this.#received = this.#received.subarray(found.end)
        if (found.last) this.close()
        return found.answer
      }
      if (this.#ended) {
        const received = this.#received.toString('latin1')
        return { ended: this.#silent ? 'silent' : 'closed', received }
      }
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }
}

interface Found {
  readonly answer: WireAnswer
  /** Where the answer ends in what was received. */
  readonly end: number
  /** The connection is closed after it. */
  readonly last: boolean
}

/** @param method of the request: the answer to HEAD has no body, whatever its head says */
function parseAnswer(bytes: Buffer, method: string, ended: boolean, interim: readonly number[]): Found | undefined {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1) return undefined
  const [first = '', ...rest] = bytes.toString('utf8', 0, end).split('\r\n')
  const [, number = '', reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(first) ?? []
  if (number === '') throw new Error(`not an answer: ${JSON.stringify(first)}`)
  const status = Number(number)
  const start = end + HEAD_END.length
  if (status < 200) {
    const found = parseAnswer(bytes.subarray(start), method, ended, [...interim, status])
    return found === undefined ? undefined : { ...found, end: found.end + start }
  }
  const lines = rest.map((line): Line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  const header = (name: string) => lines.find(([other]) => other.toLowerCase() === name)?.[1]
  const bodyless = method === 'HEAD' || status === 204 || status === 304
  const body = bodyless ? { bytes: Buffer.alloc(0), end: start } : bodyOf(bytes, start, header, ended)
  if (body === undefined) return undefined
  const last = header('connection')?.toLowerCase() === 'close'
  return { answer: { status, reason, lines, body: body.bytes, interim }, end: body.end, last }
}

interface FoundBody {
  readonly bytes: Buffer
  readonly end: number
}

function bodyOf(
  bytes: Buffer,
  start: number,
  header: (name: string) => string | undefined,
  ended: boolean,
): FoundBody | undefined {
  if (header('transfer-encoding') === 'chunked') return chunkedBody(bytes, start)
  const length = header('content-length')
  if (length === undefined) return ended ? { bytes: bytes.subarray(start), end: bytes.length } : undefined
  const end = start + Number(length)
  return bytes.length < end ? undefined : { bytes: bytes.subarray(start, end), end }
}

function chunkedBody(bytes: Buffer, start: number): FoundBody | undefined {
  const pieces: Buffer[] = []
  for (let position = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', position)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error('not a chunk')
    const end = lineEnd + 2 + size
    if (bytes.length < end + 2) return undefined
    if (size === 0) return { bytes: Buffer.concat(pieces), end: end + 2 }
    pieces.push(bytes.subarray(lineEnd + 2, end))
    position = end + 2
  }
}
