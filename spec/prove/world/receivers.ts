/** Receivers of webhooks without sockets. They outlive the processes that send to them. */
import type { post } from '../../../workers/webhooks/post.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import type { SentHead } from './memory-listener.ts'

type Delivery = Parameters<typeof post>[1]
type TargetAnswer = Awaited<ReturnType<typeof post>>

/** How a receiver is: by the number at the end of its address, see `mannerOf`. */
type Manner =
  | { readonly kind: 'answers'; readonly status: number; readonly milliseconds?: number }
  | { readonly kind: 'fails for a while' }
  | { readonly kind: 'never answers' }
  | { readonly kind: 'is not there' }

const ACCEPTS: Manner = { kind: 'answers', status: 204 }
const MANNERS: readonly Manner[] = [
  ACCEPTS,
  ACCEPTS,
  ACCEPTS,
  { kind: 'answers', status: 200, milliseconds: 1500 },
  { kind: 'fails for a while' },
  { kind: 'answers', status: 500 },
  { kind: 'answers', status: 307 },
  { kind: 'never answers' },
  { kind: 'is not there' },
]
/** Requests of one event that are refused before one is accepted, with the seconds after which to come again. */
const REFUSED_FIRST = 1
const RETRY_AFTER = '3'

/** A request that reached a receiver. Moments are numbers that only grow, those of `Receivers.moment`. */
export interface Arrival {
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly moment: number
  /** By the clock of the host, in milliseconds since 1970. */
  readonly clock: number
  /** Number of the start that sent it. */
  readonly life: number
  /** Whether the sender had an answer of success. */
  isTaken: boolean
}

/** What a client was told of a webhook, and when. */
interface ToldSecret {
  readonly webhook: string
  readonly secret: string
  readonly moment: number
}

/** What the answers to a creation and to a change of the secret have. */
interface ToldWebhook {
  readonly subscription: { readonly id: string }
  readonly signing_secret: string
}

/** Requests about webhooks; of one of them, and about what of it. */
const WEBHOOKS = /^\/api\/v1\/webhooks(?:\/([^/?]+)(\/\w+)?)?$/

/** Entries that a webhook may get no events of, since the worker could not read them: sequences, the first not included. */
export interface Gap {
  readonly webhook: string
  readonly after: number
  readonly through: number
}

/** Whether the receiver at a target ever accepts, with as many tries as it wants. */
export function accepts(target: string): boolean {
  const manner = mannerOf(target)
  return manner.kind === 'fails for a while' || (manner.kind === 'answers' && manner.status < 300)
}

export class Receivers {
  readonly arrivals: Arrival[] = []
  /** Secrets that clients were told, oldest first. */
  readonly secrets: ToldSecret[] = []
  /** What the worker could not read while a file was rotten. */
  readonly gaps: Gap[] = []
  /** Number of the start that is running. */
  life: () => number = () => 1
  /** Told by the worker of what it cannot read. */
  unread: (gap: Gap) => void = unexpectedGap
  /** When the deletion of a webhook was answered, by its id. */
  readonly deletions = new Map<string, number>()
  readonly #underWay = new Set<(reason: Error) => void>()
  #moment = 0

  /** In place of the request of a sender. */
  readonly post: typeof post = (url, delivery, { signal }) => {
    this.#moment += 1
    const manner = mannerOf(url.href)
    if (manner.kind === 'is not there') return Promise.reject(new Error('connect ECONNREFUSED'))
    const arrival = this.#arrival(url.href, delivery)
    return new Promise((resolve, reject) => {
      const over = () => {
        this.#underWay.delete(lose)
        signal.removeEventListener('abort', aborted)
      }
      const lose = (reason: Error) => {
        over()
        reject(reason)
      }
      const aborted = () => lose(new Error('the request was given up'))
      const answer = (status: number, retryAfter?: string) => {
        if (!this.#underWay.has(lose)) return
        over()
        arrival.isTaken = status < 300
        resolve({ status, retryAfter } satisfies TargetAnswer)
      }
      this.#underWay.add(lose)
      signal.addEventListener('abort', aborted)
      if (manner.kind === 'never answers') return
      if (manner.kind === 'fails for a while') {
        return void setImmediate(() => (this.#isEarly(arrival) ? answer(503, RETRY_AFTER) : answer(200)))
      }
      const { status, milliseconds = 0 } = manner
      if (milliseconds === 0) setImmediate(() => answer(status))
      else setTimeout(() => answer(status), milliseconds)
    })
  }

  /** The host is gone: no answer reaches it. */
  loseAll(): void {
    for (const lose of this.#underWay) lose(new Error('the host is gone'))
  }

  /** Learns what a client is told of webhooks. */
  observe({ method, target }: Pick<SentHead, 'method' | 'target'>, { status, text }: WireAnswer): void {
    const place = WEBHOOKS.exec(target)
    if (place === null || status >= 300) return
    this.#moment += 1
    const [, webhook, about] = place
    if (method === 'DELETE' && webhook !== undefined) this.deletions.set(webhook, this.#moment)
    const isTold = method === 'POST' && (webhook === undefined || about === '/secret')
    if (!isTold) return
    const { subscription, signing_secret: secret } = JSON.parse(text) as ToldWebhook
    this.secrets.push({ webhook: subscription.id, secret, moment: this.#moment })
  }

  #arrival(target: string, { headers, body }: Delivery): Arrival {
    const arrival = {
      target,
      headers,
      body,
      moment: this.#moment,
      clock: Date.now(),
      life: this.life(),
      isTaken: false,
    }
    this.arrivals.push(arrival)
    return arrival
  }

  #isEarly({ target, headers }: Arrival): boolean {
    const id = headers['webhook-id']
    const all = this.arrivals.filter((one) => one.target === target && one.headers['webhook-id'] === id)
    return all.length <= REFUSED_FIRST
  }
}

function mannerOf(target: string): Manner {
  return MANNERS[Number(/\d+$/.exec(target)?.[0] ?? 0) % MANNERS.length] ?? ACCEPTS
}

export function unexpectedGap({ webhook }: Gap): never {
  throw new Error(`webhook ${webhook} may miss events: a part of the journal cannot be read, and nothing was damaged`)
}
