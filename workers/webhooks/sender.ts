import { networkInterfaces } from 'node:os'
import { type Microseconds, microsecondsOf, type Milliseconds } from '../../engine/brands.ts'
import type { WebhookState } from '../../engine/webhooks/state.ts'
import { unmapped } from '../../engine/private-addresses.ts'
import { addressFault, addressIn, targetFault, type TargetRules } from '../../engine/webhooks/target.ts'
import type { SecretBox } from '../../engine/keys/secret-box.ts'
import { openedTarget } from '../../engine/webhooks/target-query.ts'
import type { StorageEvent } from '../../projections/events/storage-event.ts'
import { post } from './post.ts'
import type { Resolver } from './resolver.ts'
import { retryAfter } from './retry.ts'
import { signedDelivery } from './signing.ts'

/** Where this server listens. */
interface OwnListener {
  readonly host: string
  readonly port: number
}

interface SenderOptions {
  readonly rules: TargetRules
  readonly timeoutMilliseconds: number
  /** PEM of authorities to trust in addition to Node.js's. */
  readonly certificates: string | undefined
  readonly secrets: SecretBox
  readonly deploymentId: string
  readonly version: string
  readonly clock: () => Milliseconds
  readonly resolve: Resolver
  readonly ownListeners: () => readonly OwnListener[]
}

/** Outcome of one POST. */
export interface Sent {
  /** When it began. */
  readonly timeMicroseconds: Microseconds
  /** Undefined without a response. */
  readonly status: number | undefined
  /** The error; undefined after a 2xx. */
  readonly error: string | undefined
  /** The delay that the target asked for, 0 if none. */
  readonly askedMilliseconds: number
}

interface SendOptions {
  /** Id of a made-up event. */
  readonly testId?: string
  /** Gives up before the timeout. */
  readonly signal?: AbortSignal
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Sends events to webhooks, one attempt each, under the target restrictions (specification). */
export class WebhookSender {
  readonly #options: SenderOptions
  readonly #post: typeof post

  /** @param send what a request goes out by */
  constructor(options: SenderOptions, send: typeof post = post) {
    this.#options = options
    this.#post = send
  }

  /** Never throws: a failure is an outcome. */
  async send(webhook: WebhookState, event: StorageEvent, { testId, signal }: SendOptions = {}): Promise<Sent> {
    const { clock } = this.#options
    const now = clock()
    const timeMicroseconds = microsecondsOf(now * 1000)
    const nothing = { timeMicroseconds, status: undefined, askedMilliseconds: 0 }
    const attempt = limited(this.#options.timeoutMilliseconds, signal)
    try {
      const url = this.#urlOf(webhook)
      const delivery = this.#sign(webhook, event, now, testId)
      const addresses = await this.#addressesOf(url, attempt.signal)
      const { certificates } = this.#options
      const answer = await this.#post(url, delivery, { addresses, certificates, signal: attempt.signal })
      const { status } = answer
      const isSuccess = status >= 200 && status < 300
      const error = isSuccess ? undefined : `the target answered ${status}`
      return { timeMicroseconds, status, error, askedMilliseconds: retryAfter(answer.retryAfter, clock()) }
    } catch (error) {
      return { ...nothing, error: attempt.isLate ? 'the target did not answer in time' : textOf(error) }
    } finally {
      attempt.over()
    }
  }

  /**
   * Why nothing will be sent to a target as it is written: its address is this server itself. Undefined for a name other
   * than localhost, which is resolved at every attempt.
   * @param target a valid URL
   */
  ownFault(target: string): string | undefined {
    const url = new URL(target)
    const { hostname } = url
    const address = addressIn(url) ?? (/^(.*\.)?localhost\.?$/.test(hostname) ? '127.0.0.1' : undefined)
    return address === undefined || !this.#isOwn(url, address)
      ? undefined
      : `must not be this server itself: ${url.host} is one of its listeners`
  }

  #isOwn(url: URL, address: string): boolean {
    const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port)
    return this.#options.ownListeners().some((own) => own.port === port && isOwn(address, own.host))
  }

  #urlOf(webhook: WebhookState): URL {
    const target = this.#targetOf(webhook)
    const fault = targetFault(target, this.#options.rules)
    if (fault !== undefined) throw new Error(`target_url: ${fault}`)
    return new URL(target)
  }

  #targetOf(webhook: WebhookState): string {
    try {
      return openedTarget(webhook, this.#options.secrets)
    } catch (error) {
      throw new Error('target_url: its query cannot be opened with this master key: create it anew', { cause: error })
    }
  }

  #sign(webhook: WebhookState, event: StorageEvent, now: Milliseconds, testId: string | undefined) {
    const { secrets, deploymentId, version } = this.#options
    const { previousSecret } = webhook
    const isRotating = previousSecret !== undefined && previousSecret.untilMicroseconds > now * 1000
    const current = this.#open(secrets, webhook.sealedSecret, webhook)
    const previous = isRotating ? [this.#open(secrets, previousSecret.sealedSecret, webhook)] : []
    const { body, headers } = signedDelivery(event, {
      secrets: [current, ...previous],
      timeSeconds: Math.floor(now / 1000),
      deploymentId,
      ...(testId === undefined ? {} : { id: testId }),
    })
    const marks = testId === undefined ? {} : { 'x-object-store-test': 'true' }
    return { body, headers: { ...headers, ...marks, 'user-agent': `object-store/${version}` } }
  }

  #open(secrets: SecretBox, sealed: Uint8Array, { webhook }: WebhookState): string {
    try {
      return secrets.open(sealed, webhook)
    } catch (error) {
      throw new Error('the signing secret cannot be opened with this master key: issue a new one', { cause: error })
    }
  }

  /** Every address of the target, resolved now; throws if a single one may not be sent to. */
  async #addressesOf(url: URL, signal: AbortSignal): Promise<readonly string[]> {
    const { rules, resolve } = this.#options
    signal.throwIfAborted()
    const literal = addressIn(url)
    const addresses =
      literal === undefined ? await Promise.race([resolve(url.hostname, signal), aborted(signal)]) : [literal]
    if (addresses.length === 0) throw new Error(`${url.hostname} has no address`)
    for (const address of addresses) {
      const fault = addressFault(address, rules)
      if (fault !== undefined) throw new Error(fault)
      if (this.#isOwn(url, address)) throw new Error(`${address} is this server itself`)
    }
    return addresses
  }
}

/**
 * A signal for one attempt, which ends at its timeout or with another signal, and leaves no garbage: the result of
 * `AbortSignal.any` stays in memory for as long as its source signals (Node.js 20).
 */
function limited(milliseconds: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    controller.abort()
  }, milliseconds)
  const end = () => controller.abort()
  if (outer?.aborted === true) end()
  outer?.addEventListener('abort', end)
  return {
    signal: controller.signal,
    get isLate() {
      return isLate
    },
    over: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', end)
    },
  }
}

/** Rejects when the signal aborts: a name server may take longer than a delivery. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** Whether an address leads to a listener of this machine that is bound to a host. */
function isOwn(address: string, host: string): boolean {
  const plain = unmapped(address)
  if (plain === host.toLowerCase() || plain.startsWith('127.') || plain === '::1') return true
  return Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === plain) === true)
}

/** The reason in one line. A failed connection to several addresses has one reason for each. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0])
  const { message } = error as Error
  return message === '' ? String((error as NodeJS.ErrnoException).code ?? error) : message.replaceAll(/\s+/g, ' ')
}
