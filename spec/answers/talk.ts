/** How a block speaks to a server: it says what to send, and everything that comes back is recorded. */
import { isUtf8 } from 'node:buffer'
import { Lane, type Outcome } from '../support/raw/lane.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import { requestText } from '../support/raw/request-text.ts'
import { presignedTarget, sha256, signedLines } from '../support/signing.ts'
import {
  type ApiAsk,
  askText,
  type Caller,
  chunked,
  type Common,
  framingOf,
  type Line,
  lineOf,
  type S3Ask,
  shortened,
} from './asking.ts'
import { Names } from './names.ts'
import { journalRecords, moreRecords } from './quiet.ts'
import { withoutRandomOrder } from './random-order.ts'
import { Random } from './random.ts'
import type { Exchange } from './recording.ts'
import { ROOT, type Server } from './server.ts'

/** An answer as a block reads it on, before anything got a name. */
export interface Answer {
  readonly status: number
  header(name: string): string
  readonly text: string
  /** The text of the first element of a name. */
  element(name: string): string
  /** The first text member of a name, wherever it is. */
  member(name: string): string
}

export const ADMINISTRATOR: Caller = {
  name: 'root',
  authorization: `Basic ${Buffer.from(`${ROOT.accessKey}:${ROOT.secretKey}`).toString('base64')}`,
}

/** Longer bodies of objects are told by their digest. */
const BODY_SHOWN = 2000
const BODY_BEGIN = 160

/** Those that a server makes; others are of a client. */
const IDS_OF_REQUESTS = /^(?:[0-9A-F]{18}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export class Talk {
  readonly block: string
  /** The name of a bucket that is of this block alone. */
  readonly bucket: string
  readonly random: Random
  readonly names: Names
  readonly server: Server
  readonly exchanges: { exchange: Exchange; requestId: string }[] = []
  readonly #s3: Lane
  readonly #api: Lane
  /** Each request waits until its records are in the journal, so that they are there in the order of the requests. */
  readonly #steady: boolean

  constructor(block: string, server: Server, steady = false) {
    this.block = block
    this.#steady = steady
    this.bucket = `${block}-bucket`
    this.random = new Random(block)
    this.names = new Names(server.s3Port, server.apiPort)
    this.server = server
    this.#s3 = new Lane(server.s3Port)
    this.#api = new Lane(server.apiPort)
  }

  readonly #show = (text: string): string => this.names.canonical(text)

  close(): void {
    this.#s3.close()
    this.#api.close()
  }

  /** @param target path and query exactly as they go into the request line */
  s3(method: string, target: string, ask: S3Ask = {}): Promise<Answer> {
    const { as = ROOT, headers = [], unsigned = [], body = '', spoil = (lines) => lines } = ask
    const lines: Line[] = [['host', ask.host ?? `127.0.0.1:${this.server.s3Port}`], ...headers.map(lineOf)]
    const now = Date.now() + (ask.skew ?? 0) * 1000
    const { region = 'us-east-1', service = 's3', payload: payloadHash = sha256(body) } = ask
    let signed: readonly Line[] = lines
    let sent = target
    if (as !== null) {
      const { accessKey, secretKey } = as
      const signing = { accessKey, secretKey, method, target, lines, now, region, service, payloadHash }
      if (ask.presign === undefined) signed = signedLines(signing)
      else sent = presignedTarget({ ...signing, payloadHash: ask.payload ?? 'UNSIGNED-PAYLOAD' }, ask.presign)
    }
    const all = spoil([...signed, ...unsigned.map(lineOf)])
    const { retarget = (text) => text } = ask
    const who = as === null ? 'nobody' : as.name
    const how = [
      ask.presign === undefined ? '' : ` presigned ${ask.presign}`,
      ask.skew === undefined ? '' : ` skew ${ask.skew}`,
      ask.region === undefined ? '' : ` region ${ask.region}`,
      ask.service === undefined ? '' : ` service ${ask.service}`,
      ask.payload === undefined ? '' : ` payload ${ask.payload}`,
      ask.spoil === undefined && ask.retarget === undefined ? '' : ' spoiled',
    ].join('')
    const told = askText(`s3 ${method} ${target} as ${who}${how}`, [...headers, ...unsigned], ask, this.#show)
    return this.#exchange(this.#s3, method, retarget(sent), all, ask, told)
  }

  /** @param target path and query exactly as they go into the request line; `/buckets` is `/api/v1/buckets` */
  api(method: string, target: string, ask: ApiAsk = {}): Promise<Answer> {
    const { as = ADMINISTRATOR, headers = [] } = ask
    const lines: Line[] = [['host', ask.host ?? `127.0.0.1:${this.server.apiPort}`]]
    if (as !== null) lines.push(['authorization', as.authorization])
    lines.push(...headers.map(lineOf))
    const whole =
      /^\/(?:health|ready|metrics|api\/)/.test(target) || !target.startsWith('/') ? target : `/api/v1${target}`
    const told = askText(`api ${method} ${whole} as ${as === null ? 'nobody' : as.name}`, headers, ask, this.#show)
    return this.#exchange(this.#api, method, whole, lines, ask, told)
  }

  /** Bytes as they are, on a connection of their own. */
  async raw(plane: 's3' | 'api', text: string, half = false): Promise<Answer> {
    const port = plane === 's3' ? this.server.s3Port : this.server.apiPort
    const bytes = Buffer.from(text.replaceAll('{host}', `127.0.0.1:${port}`), 'latin1')
    const method = text.slice(0, text.indexOf(' '))
    const lane = plane === 's3' ? this.#s3 : this.#api
    const outcome = await lane.exchange(bytes, method, { fresh: true, half })
    return this.#record(`${plane} raw ${JSON.stringify(shortened(text))}`, outcome, false)
  }

  /** The target of a presigned request with a body that nobody looks at. */
  presigned(method: string, target: string): string {
    const lines: Line[] = [['host', `127.0.0.1:${this.server.s3Port}`]]
    const common = { ...ROOT, region: 'us-east-1', payloadHash: 'UNSIGNED-PAYLOAD' }
    return presignedTarget({ ...common, method, target, lines, now: Date.now() }, '300')
  }

  /** Begins a request on a connection of its own; what ends it is sent later, and its answer is not recorded. */
  async hold(plane: 's3' | 'api', text: string): Promise<(rest: string) => Promise<void>> {
    const client = openRaw(plane === 's3' ? this.server.s3Port : this.server.apiPort)
    await client.push(Buffer.from(text))
    return async (rest) => {
      const { length } = client.received
      client.send(rest)
      await client.until(() => client.received.length > length)
      client.socket.destroy()
      if (client.received.length === length) throw new Error('what was held has no answer')
    }
  }

  /** The status of a GET of the management plane that is not recorded. */
  async quietly(path: string): Promise<number> {
    const lane = new Lane(this.server.apiPort)
    const lines = ['host: 127.0.0.1', `authorization: ${ADMINISTRATOR.authorization}`]
    const { answer } = await lane.exchange(requestText('GET', path, lines), 'GET')
    lane.close()
    return answer?.status ?? 0
  }

  async #exchange(
    lane: Lane,
    method: string,
    target: string,
    lines: readonly Line[],
    ask: Common,
    told: string,
  ): Promise<Answer> {
    const body = Buffer.from(ask.body ?? '')
    const framing = framingOf(method, lines, body, ask)
    const sent = ask.chunked === true ? chunked(body) : body
    const bytes = Buffer.concat([Buffer.from(requestText(method, target, [...lines, ...framing])), sent])
    const { fresh = false, half = false } = ask
    const { apiPort } = this.server
    const waits = this.#steady && (lane === this.#s3 || target.startsWith('/api/v1/'))
    const before = waits ? await journalRecords(apiPort) : 0
    const outcome = await lane.exchange(bytes, method, { fresh, half })
    if (waits) await moreRecords(apiPort, before)
    return this.#record(told, outcome, ask.anyNumbers === true, target)
  }

  #record(ask: string, outcome: Outcome, anyNumbers: boolean, target = ''): Answer {
    const at = Date.now()
    const show = (text: string) => this.names.canonical(text, at)
    const { block } = this
    if (outcome.answer === undefined) {
      const exchange = {
        block,
        ask,
        status: outcome.ended,
        head: [],
        body: show(outcome.received),
        records: [],
      }
      this.exchanges.push({ exchange, requestId: '' })
      return answerOf(0, [], outcome.received)
    }
    const { status, reason, interim } = outcome.answer
    const lines = outcome.answer.lines.map(([name, value]): Line => [utf8(name), utf8(value)])
    const body = Buffer.from(outcome.answer.body, 'latin1')
    const sent = isUtf8(body) ? body.toString() : `base64:${body.toString('base64')}`
    const mask = (part: string) => (anyNumbers && status < 300 ? withoutNumbers(part) : part)
    const text = mask(sent)
    const answer = answerOf(status, lines, sent)
    const requestId = answer.header('x-amz-request-id') || answer.header('x-request-id')
    const head = lines.map(([name, value]) => `${name}: ${lengthless(name, value, body.length)}`)
    if (IDS_OF_REQUESTS.test(requestId)) this.names.call(requestId, `<request-${this.exchanges.length + 1}>`)
    this.names.learn(`${head.join('\n')}\n${text}`)
    const exchange: Exchange = {
      block,
      ask,
      status: [...interim, status, reason].join(' '),
      head: head.map((line) => show(line.startsWith('Content-Length') ? mask(line) : line)),
      body: shownBody(show(withoutRandomOrder(target, text, this.#show)), anyNumbers),
      records: [],
    }
    this.exchanges.push({ exchange, requestId })
    return answer
  }
}

/** What one byte a character is of, in UTF-8. */
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString()
}

/** The length of a body that is there is told by the body. */
function lengthless(name: string, value: string, length: number): string {
  return name.toLowerCase() === 'content-length' && length > 0 && value === String(length) ? 'that of the body' : value
}

function shownBody(text: string, whole: boolean): string {
  if (whole || text.length <= BODY_SHOWN || /^[<{[]/.test(text)) return text
  return `${text.slice(0, BODY_BEGIN)}… ${text.length} characters ${sha256(text)}`
}

/** Readings of a history that no number tells apart are told once: how many there are is a matter of time. */
function withoutNumbers(text: string): string {
  const masked = text.replace(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g, '#')
  return masked.replace(/(\{"time":"[^{]*\{[^}]*\}\})(?:,\1)+/g, '$1')
}

function answerOf(status: number, lines: readonly Line[], text: string): Answer {
  return {
    status,
    text,
    header: (wanted) => lines.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '',
    element: (name) => new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1] ?? `no-${name}`,
    member: (name) => new RegExp(`"${name}":"([^"]*)"`).exec(text)?.[1] ?? `no-${name}`,
  }
}
