import type { Milliseconds } from '../../../engine/brands.ts'
import type { FinishedRequest } from '../../../planes/s3/telemetry.ts'
import type { FinishedAccess } from '../../../planes/links/sharing-plane.ts'
import { isoMilliseconds } from '../../../planes/s3/text/timestamps.ts'

/** How long lines may wait for others to share a write: one for each costs more than all else of a line. */
const LINGER_MILLISECONDS = 10

interface RequestLineOptions {
  /** Written with every line, such as the name of the thread. */
  readonly bindings: Readonly<Record<string, string | number>>
  readonly clock: () => Milliseconds
  /** Bytes of one write; a line is never split between two. */
  readonly writeBytesMaximum: number
  /** Takes whole lines. */
  readonly write: (lines: string) => void
}

/**
 * The log line of each request, as a logger would write it, from a fixed set of fields. No field holds a secret, so
 * nothing is redacted, and only text of clients needs escapes.
 */
export class RequestLines {
  readonly #bindings: string
  readonly #options: RequestLineOptions
  #lines = ''
  #timer: NodeJS.Timeout | undefined
  #writtenAt: number | undefined
  #time = ''

  constructor(options: RequestLineOptions) {
    const { bindings } = options
    this.#options = options
    this.#bindings = Object.entries(bindings)
      .map((binding) => `"${binding[0]}":${JSON.stringify(binding[1])},`)
      .join('')
  }

  add(request: FinishedRequest): void {
    const { requestId, method, operation, route, status, principal, receivedBytes, sentBytes } = request
    const { code, unsupported } = request
    const milliseconds = Math.round(request.milliseconds * 1000) / 1000
    const line =
      `${this.#begin()}"requestId":"${requestId}","method":"${method}",` +
      `"route":"${route}",${operation === undefined ? '' : `"operation":"${operation.name}",`}"status":${status},` +
      `"milliseconds":${milliseconds},"principal":"${principal}","receivedBytes":${receivedBytes},"sentBytes":${sentBytes},` +
      `${unsupported === undefined ? reasonText(code) : unsupportedText(unsupported)}"msg":"S3 request"}\n`
    // Text of a client may have more bytes than characters; every other line is ASCII.
    this.#append(line, unsupported === undefined ? line.length : Buffer.byteLength(line))
  }

  /** The line of a request by a link, which hides the link. */
  addAccess(request: FinishedAccess): void {
    const { requestId, method, route, access, status, milliseconds, principal, sentBytes, code } = request
    const line =
      `${this.#begin()}"requestId":"${requestId}","method":"${method}",` +
      `${route === undefined ? '' : `"route":"${route}",`}` +
      `${access === undefined ? '' : `"operation":"${access}",`}"status":${status},` +
      `"milliseconds":${Math.round(milliseconds * 1000) / 1000},"principal":"${principal}","sentBytes":${sentBytes},` +
      `${reasonText(code)}"msg":"request by a link"}\n`
    this.#append(line, line.length)
  }

  #begin(): string {
    return `{"level":"info","time":"${this.#now()}",${this.#bindings}`
  }

  #append(line: string, bytes: number): void {
    if (this.#lines.length + bytes > this.#options.writeBytesMaximum) this.flush()
    this.#lines += line
    if (bytes > line.length) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), LINGER_MILLISECONDS).unref()
  }

  /** Writes the lines that wait. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '') this.#options.write(lines)
  }

  #now(): string {
    const now = this.#options.clock()
    if (now !== this.#writtenAt) {
      this.#writtenAt = now
      this.#time = isoMilliseconds(now)
    }
    return this.#time
  }
}

/** A code is one of a table, and needs no escapes. */
function reasonText(code: string | undefined): string {
  return code === undefined ? '' : `"reason":"${code}",`
}

function unsupportedText({ refused, reason }: NonNullable<FinishedRequest['unsupported']>): string {
  const header = refused === undefined ? '' : `"refused":${JSON.stringify(refused)},`
  return `${header}"reason":${JSON.stringify(reason)},`
}
