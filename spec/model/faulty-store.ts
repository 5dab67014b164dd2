/** A store with one fault: what it is asked or answers is changed on the way. The model has to find each of them. */
import type { WireAnswer } from '../support/wire-client.ts'
import type { ModelRequest } from './expectation.ts'
import { type Disturbance, FIRST_CLOCK } from './model.ts'
import { BYPASS } from './operations/deletions.ts'
import type { SequenceStore } from './run-sequences.ts'

export interface Fault {
  readonly name: string
  /** What is sent instead. */
  request?(request: ModelRequest): ModelRequest
  /** What is answered instead. */
  answer?(request: ModelRequest, answer: WireAnswer): WireAnswer
  /** Done behind a request that was answered. */
  after?(request: ModelRequest, answer: WireAnswer, store: SequenceStore): Promise<void>
  /** What the clock is set to instead. */
  clock?(present: number, wanted: number): number
  /** Passes over the lifecycle rules do nothing. */
  readonly skipsPasses?: boolean
}

const isWrite = ({ method, target }: ModelRequest) => method === 'PUT' && /^\/\w+\/[^?]+$/.test(target)
const isBucketRead = ({ method, target }: ModelRequest) => method === 'GET' && /^\/\w+\?/.test(target)

/** A request without the headers whose names begin so. */
function without(request: ModelRequest, start: string): ModelRequest {
  return { ...request, headers: (request.headers ?? []).filter(([name]) => !name.startsWith(start)) }
}

/** Every so many calls. */
function everyNth(count: number): () => boolean {
  let calls = 0
  return () => (calls += 1) % count === 0
}

const now = everyNth(10)

export const FAULTS: readonly Fault[] = [
  {
    name: 'everybody bypasses governance',
    request: (request) =>
      request.method === 'DELETE' || request.target.includes('?retention')
        ? { ...request, headers: [...(request.headers ?? []), BYPASS] }
        : request,
  },
  { name: 'locks of writes are ignored', request: (request) => without(request, 'x-amz-object-lock') },
  {
    name: 'If-None-Match of writes is ignored',
    request: (request) => (isWrite(request) ? without(request, 'if-none-match') : request),
  },
  {
    name: 'If-Match of writes is ignored',
    request: (request) => (isWrite(request) ? without(request, 'if-match') : request),
  },
  { name: 'user metadata is lost', request: (request) => without(request, 'x-amz-meta') },
  {
    name: 'a deletion of a version deletes the key',
    request: (request) =>
      request.method === 'DELETE' ? { ...request, target: request.target.replace(/\?versionId=.*/, '') } : request,
  },
  {
    name: 'the current object is read in place of a version',
    request: (request) =>
      request.method === 'GET' ? { ...request, target: request.target.replace(/\?versionId=.*/, '') } : request,
  },
  {
    name: 'markers of listings are ignored',
    request: (request) => ({ ...request, target: request.target.replace(/&version-id-marker=[^&]*/, '') }),
  },
  {
    name: 'a write is lost now and then',
    after: async (request, answer, store) => {
      if (!isWrite(request) || answer.status !== 200 || !now()) return
      const id = answer.headers['x-amz-version-id']
      const version = id === undefined ? '' : `?versionId=${String(id)}`
      await store.send({ method: 'DELETE', target: `${request.target}${version}`, headers: [BYPASS] })
    },
  },
  {
    name: 'a bit flips',
    answer: (request, answer) => {
      if (request.method !== 'GET' || isBucketRead(request) || answer.body.length === 0 || !now()) return answer
      const body = Buffer.from(answer.body)
      body[body.length - 1] = (body.at(-1) ?? 0) ^ 1
      return { ...answer, body }
    },
  },
  {
    name: 'a listing leaves out its last version',
    answer: (request, answer) => {
      if (!isBucketRead(request) || !now()) return answer
      return { ...answer, text: answer.text.replace(/<Version>(?!.*<Version>)[^]*<\/Version>/, '') }
    },
  },
  {
    name: 'a legal hold is lifted with a bypass',
    request: (request) => request,
    after: async (request, answer, store) => {
      const isBypass = request.headers?.some(([name]) => name === BYPASS[0]) === true
      if (request.method !== 'DELETE' || !isBypass || answer.status !== 403) return
      const target = request.target.replace('?', '?legal-hold&')
      await store.send({ method: 'PUT', target, body: '<LegalHold><Status>OFF</Status></LegalHold>' })
    },
  },
  { name: 'lifecycle rules are not carried out', skipsPasses: true },
  {
    name: 'lifecycle rules do not heed their prefix',
    request: (request) =>
      request.target.endsWith('/lifecycle')
        ? { ...request, body: String(request.body ?? '').replace('"prefix":"a/"', '"prefix":""') }
        : request,
  },
  {
    name: 'a storage event is lost now and then',
    answer: (request, answer) => {
      const text = request.target.startsWith('/api/v1/events') && now() ? answer.text : undefined
      return text === undefined ? answer : { ...answer, text: JSON.stringify(withoutLastEvent(text)) }
    },
  },
  {
    name: 'disabled webhooks stay enabled',
    request: (request) =>
      request.target.endsWith('/status') ? { ...request, body: JSON.stringify({ enabled: true }) } : request,
  },
  { name: 'a clock that goes back is not noticed', clock: (present, wanted) => Math.max(present, wanted) },
  { name: 'the clock goes a millisecond ahead', clock: (_present, wanted) => wanted + 1 },
]

function withoutLastEvent(text: string): unknown {
  const page = JSON.parse(text) as { readonly events: readonly unknown[] }
  return { ...page, events: page.events.slice(0, -1) }
}

export class FaultyStore implements SequenceStore {
  readonly dataDirectory: string
  readonly #store: SequenceStore
  readonly #fault: Fault
  #clock = FIRST_CLOCK

  constructor(store: SequenceStore, fault: Fault) {
    this.#store = store
    this.#fault = fault
    this.dataDirectory = store.dataDirectory
  }

  async send(request: ModelRequest): Promise<WireAnswer> {
    const fault = this.#fault
    const answer = await this.#store.send(fault.request?.(request) ?? request)
    await fault.after?.(request, answer, this.#store)
    return fault.answer?.(request, answer) ?? answer
  }

  sendDisturbed(requests: readonly ModelRequest[], disturbance: Disturbance): Promise<(WireAnswer | undefined)[]> {
    const changed = requests.map((request) => this.#fault.request?.(request) ?? request)
    return this.#store.sendDisturbed(changed, disturbance)
  }

  async setClock(clock: number): Promise<void> {
    this.#clock = this.#fault.clock?.(this.#clock, clock) ?? clock
    await this.#store.setClock(this.#clock)
  }

  restart(how: 'clean' | 'crash', rebuilds: boolean): Promise<void> {
    return this.#store.restart(how, rebuilds)
  }

  work(steps: number): Promise<void> {
    return this.#store.work(steps)
  }

  async pass(): Promise<void> {
    if (this.#fault.skipsPasses !== true) await this.#store.pass()
  }

  end(): Promise<void> {
    return this.#store.end()
  }
}
