import type { BucketId, Microseconds, Milliseconds } from '../brands.ts'
import type { EndsState } from '../state-ports.ts'
import type { PasswordRecord, PinnedVersion } from '../events/values.ts'

/** A link for all holders of its token: to the current object of a key, or to one version of it. */
interface CapabilityState {
  readonly bucketId: BucketId
  readonly key: string
  /** Undefined: whatever the current object of the key is. */
  readonly version: PinnedVersion | undefined
  /** Of the token (engine/links/capability-tokens.ts). */
  readonly digest: Uint8Array
  readonly sealedToken: Uint8Array
  readonly createdMicroseconds: Microseconds
  readonly expiresMicroseconds: Microseconds | undefined
  readonly revokedMicroseconds: Microseconds | undefined
}

/** A link to download an object. */
export interface ShareState extends CapabilityState {
  readonly share: string
  /** Name of the downloaded file; undefined: the end of the key. */
  readonly fileName: string | undefined
  readonly password: PasswordRecord | undefined
  readonly maximumDownloads: number | undefined
  /** Counted only for a share with a limit. */
  readonly downloads: number
}

/** A link to show an object in pages of others. */
export interface EmbedState extends CapabilityState {
  readonly embed: string
  /** As browsers send them in `Origin`, or `*`. */
  readonly allowedOrigins: readonly string[]
  /** How long caches may keep an answer. */
  readonly cacheSeconds: number
}

/** State of links as the rules read it. Implemented by the projections. */
export interface SharingState extends EndsState {
  share(share: string): ShareState | undefined
  embed(embed: string): EmbedState | undefined
  readonly shareCount: number
  readonly embedCount: number
  /** How many shares a key has, at most `limit`. */
  sharesOfKey(bucketId: BucketId, key: string, limit: number): number
  embedsOfKey(bucketId: BucketId, key: string, limit: number): number
}

/** Why a link is not followed; `active` if it is followed, provided that its target exists. */
type CapabilityStatus = 'active' | 'revoked' | 'expired' | 'exhausted'

function statusOfLink(
  { revokedMicroseconds, expiresMicroseconds }: CapabilityState,
  now: Milliseconds,
): CapabilityStatus {
  if (revokedMicroseconds !== undefined) return 'revoked'
  return expiresMicroseconds !== undefined && now * 1000 >= expiresMicroseconds ? 'expired' : 'active'
}

/** @param now milliseconds since 1970 */
export function statusOfShare(share: ShareState, now: Milliseconds): CapabilityStatus {
  const status = statusOfLink(share, now)
  const { maximumDownloads, downloads } = share
  return status === 'active' && maximumDownloads !== undefined && downloads >= maximumDownloads ? 'exhausted' : status
}

/** @param now milliseconds since 1970 */
export function statusOfEmbed(embed: EmbedState, now: Milliseconds): CapabilityStatus {
  return statusOfLink(embed, now)
}
