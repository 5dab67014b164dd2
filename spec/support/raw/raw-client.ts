/** A socket that sends what it is told, byte for byte, and lets a spec look at what comes back. */
import { connect, type Socket } from 'node:net'

export class RawClient {
  readonly socket: Socket
  /** Everything received, one character a byte. */
  received = ''
  /** Error code of the socket, when it failed. */
  failure: string | undefined
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<void>
  #changed: () => void = () => {}
  #isOver = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (data) => {
      this.received += data.toString('latin1')
      this.#changed()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.failure = error.code
    })
    const end = () => {
      this.#isOver = true
      this.#changed()
    }
    socket.on('end', end)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        end()
        resolve()
      })
    })
  }

  /** Whether nothing more can come. */
  get isOver(): boolean {
    return this.#isOver
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

  /** Waits until what was received matches, or nothing more can come; returns what was received. */
  async until(pattern: RegExp | (() => boolean)): Promise<string> {
    const matches = typeof pattern === 'function' ? pattern : () => pattern.test(this.received)
    while (!matches() && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
    return this.received
  }

  /** Waits for the end of the connection; returns what was received. */
  async untilClosed(): Promise<string> {
    await this.closed
    return this.received
  }
}

export function openRaw(port: number): RawClient {
  return new RawClient(connect(port, '127.0.0.1'))
}
