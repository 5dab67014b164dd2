import { type EmbedState, type ShareState, statusOfEmbed, statusOfShare } from '../../engine/links/state.ts'
import { boundedText } from '../../engine/events/bounded-text.ts'
import type { CatalogSnapshot } from '../../projections/catalog/catalog-snapshot.ts'
import { type FoundObject, findTarget } from '../objects/find-object.ts'
import { SharingError, type SharingErrorCode } from './errors.ts'
import type { SharingServices } from './services.ts'

/** The link in the record of a refusal, as far as it was found. */
export interface RecordedLink {
  readonly id: string | undefined
  /** The capability target; never the token. */
  readonly resource: string
}

/** Recorded for an unknown token. */
export const UNKNOWN_LINK: RecordedLink = { id: undefined, resource: 'capability:unknown' }

/** `bucket:`, a bucket of 63 characters, `/`, a key of 1,024 bytes (decision 0010). */
const RECORDED_BYTES_MAXIMUM = 7 + 63 + 1 + 1024

/** A valid link, and its object in this turn. */
interface FoundLink<Link> {
  readonly link: Link
  readonly target: FoundObject
}

const REFUSED_SHARES: Readonly<Record<Exclude<ReturnType<typeof statusOfShare>, 'active'>, SharingErrorCode>> = {
  revoked: 'SHARE_REVOKED',
  expired: 'SHARE_EXPIRED',
  exhausted: 'SHARE_EXHAUSTED',
}

/**
 * The share of a token, from the state of this moment.
 * @param found called with the share as soon as it is found, for the record of a refusal
 * @throws SharingError SHARE_NOT_FOUND, SHARE_REVOKED, SHARE_EXPIRED, SHARE_EXHAUSTED, SHARE_TARGET_NOT_FOUND
 */
export function requireShare(
  services: SharingServices,
  token: string,
  found: (link: RecordedLink) => void,
): FoundLink<ShareState> {
  const digest = services.tokens.digest('share', token)
  const snapshot = services.catalog.snapshot()
  const link = digest === undefined || !services.isEnabled ? undefined : snapshot.findShare(digest)
  if (link === undefined) throw new SharingError('SHARE_NOT_FOUND')
  found({ id: link.share, resource: resourceOf(snapshot, link) })
  const status = statusOfShare(link, services.expiryClock())
  if (status !== 'active') throw new SharingError(REFUSED_SHARES[status])
  const target = findTarget(snapshot, link)
  if (target === undefined) throw new SharingError('SHARE_TARGET_NOT_FOUND')
  return { link, target }
}

/**
 * The embed of a token, from the state of this moment.
 * @param found called with the embed as soon as it is found
 * @throws SharingError EMBED_NOT_FOUND, EMBED_REVOKED, EMBED_EXPIRED, EMBED_TARGET_NOT_FOUND
 */
export function requireEmbed(
  services: SharingServices,
  token: string,
  found: (link: RecordedLink) => void,
): FoundLink<EmbedState> {
  const digest = services.tokens.digest('embed', token)
  const snapshot = services.catalog.snapshot()
  const link = digest === undefined || !services.isEnabled ? undefined : snapshot.findEmbed(digest)
  if (link === undefined) throw new SharingError('EMBED_NOT_FOUND')
  found({ id: link.embed, resource: resourceOf(snapshot, link) })
  const status = statusOfEmbed(link, services.expiryClock())
  if (status !== 'active') throw new SharingError(status === 'revoked' ? 'EMBED_REVOKED' : 'EMBED_EXPIRED')
  const target = findTarget(snapshot, link)
  if (target === undefined) throw new SharingError('EMBED_TARGET_NOT_FOUND')
  return { link, target }
}

/** The target of a link by names; its bucket may have been removed. */
function resourceOf(snapshot: CatalogSnapshot, { bucketId, key }: Pick<ShareState, 'bucketId' | 'key'>): string {
  return boundedText(`bucket:${snapshot.bucketName(bucketId) ?? bucketId}/${key}`, RECORDED_BYTES_MAXIMUM)
}
