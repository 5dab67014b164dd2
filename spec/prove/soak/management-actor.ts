/** What a console does: objects of one bucket by the management listener, and a look at everything else. */
import type { Random } from '../../support/random.ts'
import { type Actor, bytesOf, type Clients, ContentBook, mustBe, sizeOf, WrongAnswerError } from './actor.ts'

export const MANAGED_BUCKET = 'soak-managed'
const KEYS = 4
const SIZES = [0, 300, 20_000, 65_536, 70_000, 300_000] as const
const AUDIT_PAGE = 100
const CHAIN_RECORDS = 500
const OBJECT = '/buckets/{bucket}/object/{key}'

export class ManagementActor implements Actor {
  readonly #random: Random
  readonly #prefix: string
  readonly #book: ContentBook
  #seed: number

  constructor(number: number, random: Random) {
    this.#random = random
    this.#seed = number * 1_000_003
    this.#prefix = `managed-${String(number).padStart(4, '0')}/`
    this.#book = new ContentBook(Array.from({ length: KEYS }, (_, index) => `${this.#prefix}${index}`))
  }

  async check(clients: Clients): Promise<string[]> {
    const wrong: string[] = []
    for (const key of this.#book.keys) {
      const fault = this.#book.settle(key, await this.#content(clients, key))
      if (fault !== undefined) wrong.push(fault)
    }
    return wrong
  }

  async run(clients: Clients): Promise<void> {
    for (;;) {
      const key = this.#random.of(this.#book.keys)
      await this.#random.of(CHOICES)(this, clients, key)
    }
  }

  async put({ api }: Clients, key: string): Promise<void> {
    this.#seed += 1
    const content = [[this.#random.of(SIZES), this.#seed]] as const
    const sending = api.call(`PUT ${OBJECT}`, namesOf(key), { raw: bytesOf(content) })
    await this.#book.write(key, content, sending, 201)
  }

  async remove({ api }: Clients, key: string): Promise<void> {
    await this.#book.write(key, undefined, api.call(`DELETE ${OBJECT}`, namesOf(key)), 204)
  }

  async copy({ api }: Clients, key: string): Promise<void> {
    const source = this.#random.of(this.#book.keys)
    const content = this.#book.current(source)
    if (source === key || content === undefined) return
    const body = { source_bucket: MANAGED_BUCKET, source_key: source }
    const sending = api.call('POST /buckets/{bucket}/object-copy/{key}', namesOf(key), { body })
    await this.#book.write(key, content, sending, 201)
  }

  async read(clients: Clients, key: string): Promise<void> {
    const fault = this.#book.settle(key, await this.#content(clients, key))
    if (fault !== undefined) throw new WrongAnswerError(fault)
  }

  async look({ api }: Clients, key: string): Promise<void> {
    const content = this.#book.current(key)
    const answer = mustBe(key, await api.call(`GET ${OBJECT}`, namesOf(key)), content === undefined ? 404 : 200)
    if (content === undefined) return
    const { size } = answer.json as { readonly size: number }
    if (size !== sizeOf(content)) throw new WrongAnswerError(`${key}: ${size} bytes`)
  }

  async verify({ api }: Clients, key: string): Promise<void> {
    if (this.#book.current(key) === undefined) return
    const answer = mustBe(key, await api.call('POST /verify/objects/{bucket}/{key}', namesOf(key)), 200)
    const { status } = answer.json as { readonly status: string }
    if (status !== 'verified') throw new WrongAnswerError(`${key}: ${answer.text}`)
  }

  async list({ api }: Clients): Promise<void> {
    const query = `?prefix=${encodeURIComponent(this.#prefix)}`
    const answer = mustBe('list', await api.call('GET /buckets/{bucket}/objects', namesOf(''), { query }), 200)
    const { objects } = answer.json as { readonly objects: readonly { readonly key: string; readonly size: number }[] }
    const listed = objects.map(({ key, size }) => `${key} ${size}`).join()
    const expected = this.#book.present.map((key) => `${key} ${sizeOf(this.#book.current(key))}`).join()
    if (listed !== expected) throw new WrongAnswerError(`${listed} instead of ${expected}`)
  }

  #content({ api }: Clients, key: string) {
    return api.call('GET /buckets/{bucket}/object-content/{key}', namesOf(key))
  }
}

/** The newest records, and the page behind them. */
async function readAudit({ api }: Clients): Promise<void> {
  const route = 'GET /audit/events'
  const first = mustBe(route, await api.call(route, {}, { query: `?limit=${AUDIT_PAGE}` }), 200)
  const { events, next_time, next_id, damaged } = first.json as {
    readonly events: readonly unknown[]
    readonly next_time: string | null
    readonly next_id: string | null
    readonly damaged: boolean
  }
  if (damaged || events.length !== AUDIT_PAGE) throw new WrongAnswerError(`a page of ${events.length} audit records`)
  const query = `?limit=${AUDIT_PAGE}&after_time=${encodeURIComponent(String(next_time))}&after_id=${String(next_id)}`
  mustBe(route, await api.call(route, {}, { query }), 200)
}

async function checkChain({ api }: Clients): Promise<void> {
  const answer = mustBe('chain', await api.call('GET /audit/chain', {}, { query: `?limit=${CHAIN_RECORDS}` }), 200)
  const { intact } = answer.json as { readonly intact: boolean }
  if (!intact) throw new WrongAnswerError(answer.text)
}

const LOOKS = [
  'GET /ready',
  'GET /buckets',
  'GET /buckets/{bucket}',
  'GET /buckets/{bucket}/object-versions',
  'GET /policies',
  'GET /service-accounts',
  'GET /storage/status',
  'GET /storage/usage',
  'GET /system/info',
  'GET /system/metrics',
  'GET /system/metrics/history',
  'GET /reports/retention',
  'GET /openapi.json',
] as const

type Step = (actor: ManagementActor, clients: Clients, key: string) => Promise<void>

const MIX: readonly (readonly [times: number, step: Step])[] = [
  [15, (actor, clients, key) => actor.put(clients, key)],
  [5, (actor, clients, key) => actor.remove(clients, key)],
  [5, (actor, clients, key) => actor.copy(clients, key)],
  [15, (actor, clients, key) => actor.read(clients, key)],
  [10, (actor, clients, key) => actor.look(clients, key)],
  [5, (actor, clients, key) => actor.verify(clients, key)],
  [5, (actor, clients) => actor.list(clients)],
  [3, (_actor, clients) => readAudit(clients)],
  [1, (_actor, clients) => checkChain(clients)],
]
const CHOICES: readonly Step[] = [
  ...MIX.flatMap(([times, step]) => Array.from({ length: times }, () => step)),
  ...LOOKS.map(
    (route): Step =>
      async (_actor, { api }) =>
        void mustBe(route, await api.call(route, namesOf('')), 200),
  ),
]

function namesOf(key: string): Readonly<Record<string, string>> {
  return { bucket: MANAGED_BUCKET, key }
}
