/** Answers read from the bytes of a connection. Text has one byte a character. */

type Pair = readonly [name: string, value: string]

export interface RawAnswer {
  readonly status: number
  /** What the status line says after the number. */
  readonly reason: string
  /** Statuses of the interim answers before it, such as 100 Continue. */
  readonly interim: readonly number[]
  /** Status line and header lines. */
  readonly head: string
  /** Header lines in their order, names and values as they came. */
  readonly lines: readonly Pair[]
  /** Names in lower case; of a repeated name the last value. */
  readonly headers: ReadonlyMap<string, string>
  /** Without its framing. */
  readonly body: string
  /** Code of the error document or envelope, or undefined. */
  readonly code: string | undefined
  readonly requestId: string
}

interface Found {
  readonly answer: RawAnswer
  /** Where the answer ends in what was received. */
  readonly end: number
  /** The connection is closed after it. */
  readonly isLast: boolean
}

const HEAD_END = '\r\n\r\n'

/**
 * The answer at the start of what was received; or, where it is not whole, how many bytes are needed before it can be.
 * @param method of the request: the answer to HEAD has no body, whatever its head says
 * @param isOver nothing more can come
 * @throws Error when that is not an answer of HTTP/1.1
 */
export function readAnswer(
  text: string,
  method: string,
  isOver: boolean,
  from = 0,
  interim: readonly number[] = [],
): Found | number {
  const end = text.indexOf(HEAD_END, from)
  if (end === -1) return text.length + 1
  const head = text.slice(from, end)
  const [first = '', ...rest] = head.split('\r\n')
  const [, number = '', reason = ''] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(first) ?? []
  if (number === '') throw new Error(`not an answer: ${JSON.stringify(first.slice(0, 100))}`)
  const status = Number(number)
  const start = end + HEAD_END.length
  if (status < 200) return readAnswer(text, method, isOver, start, [...interim, status])
  const lines = rest.map((line): Pair => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  const headers = new Map(lines.map(([name, value]) => [name.toLowerCase(), value]))
  const isBodyless = method === 'HEAD' || status === 204 || status === 304
  const body = isBodyless ? { text: '', end: start } : readBody(text, start, headers, isOver)
  if (typeof body === 'number') return body
  const requestId = headers.get('x-amz-request-id') ?? headers.get('x-request-id') ?? ''
  return {
    answer: { status, reason, interim, head, lines, headers, body: body.text, code: codeOf(body.text), requestId },
    end: body.end,
    isLast: headers.get('connection')?.toLowerCase() === 'close',
  }
}

interface Body {
  readonly text: string
  readonly end: number
}

function readBody(text: string, start: number, headers: ReadonlyMap<string, string>, isOver: boolean): Body | number {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(text, start)
  const length = headers.get('content-length')
  if (length === undefined) return isOver ? { text: text.slice(start), end: text.length } : text.length + 1
  const end = start + Number(length)
  return text.length < end ? end : { text: text.slice(start, end), end }
}

function readChunks(text: string, start: number): Body | number {
  let body = ''
  for (let position = start; ; ) {
    const line = text.indexOf('\r\n', position)
    if (line === -1) return text.length + 1
    const size = Number.parseInt(text.slice(position, line), 16)
    if (Number.isNaN(size)) throw new Error(`not a chunk: ${JSON.stringify(text.slice(position, line))}`)
    const end = line + 2 + size
    if (text.length < end + 2) return end + 2
    if (size === 0) return { text: body, end: end + 2 }
    body += text.slice(line + 2, end)
    position = end + 2
  }
}

function codeOf(body: string): string | undefined {
  if (body.startsWith('<')) return /<Code>(\w+)<\/Code>/.exec(body)?.[1]
  return body.startsWith('{"error"') ? /"code":"(\w+)"/.exec(body)?.[1] : undefined
}
