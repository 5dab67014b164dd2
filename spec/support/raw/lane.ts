/** Requests byte for byte over a connection that stays open, and answers as they came. */
import { connect } from 'node:net'
import { type RawAnswer, readAnswer } from './raw-answer.ts'
import { RawClient } from './raw-client.ts'

/** What became of a request: its answer, or how the connection ended without one. */
export type Outcome =
  | { readonly answer: RawAnswer }
  | { readonly answer: undefined; readonly ended: 'closed' | 'silent'; readonly received: string }

interface Manner {
  /** Opens a connection for this request, which is closed afterwards. */
  readonly fresh?: boolean
  /** Says after the request that nothing more comes. */
  readonly half?: boolean
}

/** Long, since a busy machine may take its time over an export: it only ends what no answer ever ends. */
const SILENCE_MILLISECONDS = 120_000

/** One connection at a time, opened again when the server has closed it. One request at a time. */
export class Lane {
  readonly #port: number
  #client: RawClient | undefined
  #isOpen = false
  #isSilent = false

  constructor(port: number) {
    this.#port = port
  }

  /** Bytes that came although nothing was asked. */
  get surplus(): string {
    return this.#client?.received ?? ''
  }

  /** @param request text has one byte a character */
  async exchange(
    request: Buffer | string,
    method: string,
    { fresh = false, half = false }: Manner = {},
  ): Promise<Outcome> {
    const bytes = typeof request === 'string' ? Buffer.from(request, 'latin1') : request
    if (fresh) this.close()
    for (;;) {
      const isReused = this.#isOpen && this.#client?.isOver === false
      const client = isReused && this.#client !== undefined ? this.#client : this.#open()
      if (half) client.socket.end(bytes)
      else client.socket.write(bytes)
      const outcome = await this.#outcome(client, method)
      // The server may close a connection that was idle just when it is used again.
      const isStale = isReused && outcome.answer === undefined && outcome.ended === 'closed' && outcome.received === ''
      if (isStale) continue
      if (fresh) this.close()
      return outcome
    }
  }

  close(): void {
    this.#client?.socket.destroy()
    this.#isOpen = false
  }

  #open(): RawClient {
    this.close()
    // A server that says that it sends nothing more may still read: what it answers to half a connection is seen as well.
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    const client = new RawClient(socket)
    socket.setTimeout(SILENCE_MILLISECONDS, () => {
      this.#isSilent = true
      socket.destroy()
    })
    this.#client = client
    this.#isOpen = true
    this.#isSilent = false
    return client
  }

  async #outcome(client: RawClient, method: string): Promise<Outcome> {
    let needed = 1
    for (;;) {
      await client.until(() => client.received.length >= needed)
      const { received, isOver } = client
      const found = readAnswer(received, method, isOver)
      if (typeof found !== 'number') {
        client.received = received.slice(found.end)
        if (found.isLast) this.close()
        return { answer: found.answer }
      }
      if (isOver) return { answer: undefined, ended: this.#isSilent ? 'silent' : 'closed', received }
      // Read again only when enough has come: reading for each piece would take longer than sending.
      needed = found
    }
  }
}
