/** A socket that sends what it is told, byte for byte, and lets a test look at what comes back. */
import { connect, type Socket } from 'node:net'

export class RawClient {
  readonly socket: Socket
  /** Everything received, one character a byte. */
  received = ''
  /** Error code of the socket, when it failed. */
  failure: string | undefined
  /** Resolves when the connection is over, whoever ended it. */
  readonly closed: Promise<void>
  #changed: () => void = () => {}
  #over = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (data) => {
      this.received += data.toString('latin1')
      this.#changed()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.failure = error.code
    })
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#over = true
        this.#changed()
        resolve()
      })
    })
  }

  /** Sends text, one byte a character. */
  send(text: string): this {
    this.socket.write(text, 'latin1')
    return this
  }

  /** Sends bytes and waits until the kernel has them all. */
  push(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.write(bytes, (error) => (error instanceof Error ? reject(error) : resolve()))
    })
  }

  /** Waits until what was received matches, or the connection is over; gives what was received. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received) && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
    return this.received
  }

  /** Waits for the end of the connection; gives what was received. */
  async untilClosed(): Promise<string> {
    await this.closed
    return this.received
  }
}

export function openRaw(port: number): RawClient {
  return new RawClient(connect(port, '127.0.0.1'))
}

/** A request head with a Host line; `lines` go between it and the blank line. */
export function head(requestLine: string, ...lines: string[]): string {
  return `${[`${requestLine} HTTP/1.1`, 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n`
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

/** Bytes that differ at every offset within a period longer than any chunk size in use. */
export function patternBytes(length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let index = 0; index < words.length; index++) words[index] = Math.imul(index, 2_654_435_761)
  return Buffer.from(words.buffer, 0, length)
}

/** A promise and what resolves it. */
export interface Signal {
  readonly given: Promise<void>
  give(): void
}

export function signal(): Signal {
  const made: { give?: () => void } = {}
  const given = new Promise<void>((resolve) => {
    made.give = resolve
  })
  return { given, give: () => made.give?.() }
}

/** Waits until `condition` holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5)
}
