import type { Sent } from '../commands/spine-commands.ts'
import { DomainError } from '../errors.ts'
import type { PinnedVersion } from '../events/values.ts'
import type { BucketState, ObjectState, StateReader } from '../state-ports.ts'
import { requireBucket } from '../domain/bucket.ts'
import { NOTHING_CHANGES, type RulesOf } from '../domain/decision.ts'
import { type EmbedState, type ShareState, type SharingState, statusOfShare } from './state.ts'
import type { SharingChange } from './change-types.ts'
import type { SharingCommands } from './commands.ts'

/** Maximum shares, and the same number of embeds: a start reads every row, 33 microseconds of processor time each. */
const LINKS_MAXIMUM = 100_000
/** A page of the list of a key is cut out of all of them. */
export const LINKS_OF_KEY_MAXIMUM = 1000

function requireShare(links: SharingState, share: string): ShareState {
  const found = links.share(share)
  if (found === undefined) throw new DomainError('share-not-found', share)
  return found
}

function requireEmbed(links: SharingState, embed: string): EmbedState {
  const found = links.embed(embed)
  if (found === undefined) throw new DomainError('embed-not-found', embed)
  return found
}

/** @throws DomainError object-not-found, version-not-found, version-is-marker */
function requireTarget(
  { key, version }: Sent<SharingCommands, 'create-share' | 'create-embed'>,
  bucket: BucketState,
  state: StateReader,
): PinnedVersion | undefined {
  if (version === undefined) {
    if (state.object(bucket.id, key) === undefined) throw new DomainError('object-not-found', key)
    return undefined
  }
  const found: ObjectState | undefined = state.version(bucket.id, key, version)
  if (found === undefined) throw new DomainError('version-not-found', key)
  if (found.isMarker) throw new DomainError('version-is-marker')
  return { sequence: found.sequence, isNull: found.isNull }
}

/** The settings of an embed after a command that may leave some as they are. */
export function updatedEmbed(
  { allowedOrigins, expiry, cacheSeconds }: Sent<SharingCommands, 'update-embed'>,
  before: EmbedState,
): Pick<EmbedState, 'allowedOrigins' | 'expiresMicroseconds' | 'cacheSeconds'> {
  return {
    allowedOrigins: allowedOrigins ?? before.allowedOrigins,
    expiresMicroseconds: expiry === undefined ? before.expiresMicroseconds : expiry.expiresMicroseconds,
    cacheSeconds: cacheSeconds ?? before.cacheSeconds,
  }
}

const COUNT_REFUSALS = {
  revoked: 'share-revoked',
  expired: 'share-expired',
  exhausted: 'share-exhausted',
} as const

export const sharingRules: RulesOf<SharingCommands, SharingChange, { readonly links: SharingState }> = {
  'create-share'(command, { state, links }) {
    const { share, key, digest, sealedToken, fileName, password, expiresMicroseconds, maximumDownloads } = command
    const bucket = requireBucket(state, command.bucket)
    const version = requireTarget(command, bucket, state)
    if (links.share(share) !== undefined) throw new DomainError('share-exists', share)
    const isFull = links.shareCount >= LINKS_MAXIMUM
    if (isFull || links.sharesOfKey(bucket.id, key, LINKS_OF_KEY_MAXIMUM) >= LINKS_OF_KEY_MAXIMUM) {
      throw new DomainError('too-many-shares', key)
    }
    const link = { share, bucketId: bucket.id, key, version, digest, sealedToken }
    const limits = { fileName, password, expiresMicroseconds, maximumDownloads }
    return { changes: [{ name: 'share.created', ...link, ...limits }] }
  },

  'revoke-share'({ share }, { links }) {
    if (requireShare(links, share).revokedMicroseconds !== undefined) return NOTHING_CHANGES
    return { changes: [{ name: 'share.revoked', share }] }
  },

  'delete-share'({ share }, { links }) {
    requireShare(links, share)
    return { changes: [{ name: 'share.deleted', share }] }
  },

  'count-download'({ share }, { links, now }) {
    const found = requireShare(links, share)
    const status = statusOfShare(found, now)
    if (status !== 'active') throw new DomainError(COUNT_REFUSALS[status], share)
    return found.maximumDownloads === undefined ? NOTHING_CHANGES : { changes: [{ name: 'share.downloaded', share }] }
  },

  'create-embed'(command, { state, links }) {
    const { embed, key, digest, sealedToken, allowedOrigins, expiresMicroseconds, cacheSeconds } = command
    const bucket = requireBucket(state, command.bucket)
    const version = requireTarget(command, bucket, state)
    if (links.embed(embed) !== undefined) throw new DomainError('embed-exists', embed)
    const isFull = links.embedCount >= LINKS_MAXIMUM
    if (isFull || links.embedsOfKey(bucket.id, key, LINKS_OF_KEY_MAXIMUM) >= LINKS_OF_KEY_MAXIMUM) {
      throw new DomainError('too-many-embeds', key)
    }
    const link = { embed, bucketId: bucket.id, key, version, digest, sealedToken }
    return { changes: [{ name: 'embed.created', ...link, allowedOrigins, expiresMicroseconds, cacheSeconds }] }
  },

  /** A revoked embed stays revoked, so its fields do not change any more. */
  'update-embed'(command, { links }) {
    const { embed } = command
    const before = requireEmbed(links, embed)
    if (before.revokedMicroseconds !== undefined) throw new DomainError('embed-revoked', embed)
    return { changes: [{ name: 'embed.updated', embed, ...updatedEmbed(command, before) }] }
  },

  'revoke-embed'({ embed }, { links }) {
    if (requireEmbed(links, embed).revokedMicroseconds !== undefined) return NOTHING_CHANGES
    return { changes: [{ name: 'embed.revoked', embed }] }
  },

  'delete-embed'({ embed }, { links }) {
    requireEmbed(links, embed)
    return { changes: [{ name: 'embed.deleted', embed }] }
  },
}
