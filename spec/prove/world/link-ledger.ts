/** Which shares and embeds there are and what they lead to, by what the management plane acknowledged (spec/manual/management/public-links.md). */
import type { Model } from '../../model/model.ts'
import type { ModelVersion } from '../../model/state.ts'
import type { WorldHost } from './world-host.ts'

interface KnownLink {
  readonly id: string
  readonly token: string
  /** Of the bucket that was there when it was made, as the model has it. */
  readonly bucketId: number
  readonly bucket: string
  readonly key: string
  /** Of the one version that it leads to, as the model has it. */
  readonly version: number | undefined
  /** Milliseconds since 1970. */
  expires: number
  state: 'there' | 'revoked' | 'deleted'
}

export interface KnownShare extends KnownLink {
  readonly password: string | undefined
  readonly maximumDownloads: number | undefined
  downloads: number
}

export interface KnownEmbed extends KnownLink {
  origins: readonly string[]
  cacheSeconds: number
}

interface Shown {
  readonly expires_at: string | null
  readonly allowed_origins: readonly string[]
  readonly cache_seconds: number
}

const ledgers = new WeakMap<WorldHost, LinkLedger>()

/** The one of a host. */
export function linksOf(host: WorldHost): LinkLedger {
  const ledger = ledgers.get(host) ?? new LinkLedger()
  ledgers.set(host, ledger)
  return ledger
}

/** Milliseconds since 1970, as links have it. */
export function expiryOf(text: string | null): number {
  return text === null ? Number.POSITIVE_INFINITY : Date.parse(text)
}

export class LinkLedger {
  readonly shares: KnownShare[] = []
  readonly embeds: KnownEmbed[] = []
  /** Passwords that were tried since the server started, by share. */
  readonly tries = new Map<string, number>()
  #life = 0

  /** Takes in a request of an administrator and its answer. */
  saw(method: string, target: string, { status, json }: { status: number; json: unknown }): void {
    if (method === 'GET' || status >= 300) return
    const [, , , kind, id = '', act] = target.split('/').map(decodeURIComponent)
    if (kind !== 'shares' && kind !== 'embeds') return
    const link = [...this.shares, ...this.embeds].find((one) => one.id === id)
    if (link === undefined) return
    if (method === 'DELETE') link.state = 'deleted'
    else if (act === 'revoke') link.state = 'revoked'
    else if ('origins' in link) {
      const { expires_at, allowed_origins, cache_seconds } = json as Shown
      Object.assign(link, { expires: expiryOf(expires_at), origins: allowed_origins, cacheSeconds: cache_seconds })
    }
  }

  /** Counts an attempt. @param life number of the start that answers @returns how many there were before it */
  tried(share: KnownShare, life: number): number {
    if (life !== this.#life) this.tries.clear()
    this.#life = life
    const before = this.tries.get(share.id) ?? 0
    this.tries.set(share.id, before + 1)
    return before
  }
}

/** The object that a link leads to now. */
export function targetOfLink({ world }: Model, link: KnownLink): ModelVersion | undefined {
  const bucket = world.buckets.get(link.bucket)
  if (bucket?.id !== link.bucketId) return undefined
  if (link.version === undefined) return world.current(bucket, link.key)
  return world.versions(bucket, link.key).find(({ sequence }) => sequence === link.version)
}

/** The code with which a link is refused; undefined for one that can be followed. */
export function refusalOf(model: Model, link: KnownShare | KnownEmbed): string | undefined {
  const kind = 'downloads' in link ? 'SHARE' : 'EMBED'
  if (link.state === 'deleted') return `${kind}_NOT_FOUND`
  if (link.state === 'revoked') return `${kind}_REVOKED`
  if (link.expires <= model.moment.now) return `${kind}_EXPIRED`
  if ('downloads' in link && link.downloads >= (link.maximumDownloads ?? Number.POSITIVE_INFINITY))
    return 'SHARE_EXHAUSTED'
  return targetOfLink(model, link) === undefined ? `${kind}_TARGET_NOT_FOUND` : undefined
}
