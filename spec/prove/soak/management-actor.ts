/** What a console does: objects of one bucket by the management listener, and a look at everything else. */
import type { Random } from '../../support/random.ts'
import { type Clients, mustBe, WrongAnswerError } from './actor.ts'
import { KeyActor, mixOf, type Sent, type Step } from './key-actor.ts'

export const MANAGED_BUCKET = 'soak-managed'
const SIZES = [0, 300, 20_000, 65_536, 70_000, 300_000] as const
const AUDIT_PAGE = 100
const CHAIN_RECORDS = 500
const OBJECT = '/buckets/{bucket}/object/{key}'
const LOOKS =
  '/ready /buckets /buckets/{bucket} /buckets/{bucket}/object-versions /policies /service-accounts /storage/status ' +
  '/storage/usage /system/info /system/metrics /system/metrics/history /reports/retention /openapi.json'

export class ManagementActor extends KeyActor {
  constructor(number: number, random: Random) {
    super('managed', number, random)
  }

  override get({ api }: Clients, key: string): Sent {
    return api.call('GET /buckets/{bucket}/object-content/{key}', namesOf(key))
  }

  override step(clients: Clients, key: string): Promise<unknown> {
    return this.random.of(MIX)(this, clients, key)
  }

  write({ api }: Clients, key: string): Promise<unknown> {
    return this.put(key, SIZES, 201, (raw) => api.call(`PUT ${OBJECT}`, namesOf(key), { raw }))
  }

  remove({ api }: Clients, key: string): Promise<unknown> {
    return this.book.write(key, undefined, api.call(`DELETE ${OBJECT}`, namesOf(key)), 204)
  }

  copyObject({ api }: Clients, key: string): Promise<unknown> {
    return this.copy(key, 201, (source) => {
      const body = { source_bucket: MANAGED_BUCKET, source_key: source }
      return api.call('POST /buckets/{bucket}/object-copy/{key}', namesOf(key), { body })
    })
  }

  async head({ api }: Clients, key: string): Promise<void> {
    const answer = await api.call(`GET ${OBJECT}`, namesOf(key))
    this.sized(key, answer, ({ json }) => (json as { readonly size: number }).size)
  }

  async verify({ api }: Clients, key: string): Promise<void> {
    if (this.book.current(key) === undefined) return
    const answer = mustBe(key, await api.call('POST /verify/objects/{bucket}/{key}', namesOf(key)), 200)
    const { status } = answer.json as { readonly status: string }
    if (status !== 'verified') throw new WrongAnswerError(`${key}: ${answer.text}`)
  }

  async list({ api }: Clients): Promise<void> {
    const query = `?prefix=${encodeURIComponent(this.prefix)}`
    const answer = mustBe('list', await api.call('GET /buckets/{bucket}/objects', namesOf(''), { query }), 200)
    const { objects } = answer.json as { readonly objects: readonly { readonly key: string; readonly size: number }[] }
    this.listed(objects.map(({ key, size }) => `${key} ${size}`))
  }
}

/** The newest records, and the page after them. */
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

const MIX = mixOf<ManagementActor>([
  [15, (actor, clients, key) => actor.write(clients, key)],
  [5, (actor, clients, key) => actor.remove(clients, key)],
  [5, (actor, clients, key) => actor.copyObject(clients, key)],
  [15, (actor, clients, key) => actor.read(clients, key)],
  [10, (actor, clients, key) => actor.head(clients, key)],
  [5, (actor, clients, key) => actor.verify(clients, key)],
  [5, (actor, clients) => actor.list(clients)],
  [3, (_actor, clients) => readAudit(clients)],
  [1, (_actor, clients) => checkChain(clients)],
  ...LOOKS.split(' ').map((path): readonly [number, Step<ManagementActor>] => {
    const route = `GET ${path}`
    return [1, async (_actor, { api }) => mustBe(route, await api.call(route, namesOf('')), 200)]
  }),
])

function namesOf(key: string): Readonly<Record<string, string>> {
  return { bucket: MANAGED_BUCKET, key }
}
