import type { Microseconds, Milliseconds } from '../../../engine/brands.ts'
import type { VersionName } from '../../../engine/commands/version-name.ts'
import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import { type EmbedState, type ShareState, statusOfEmbed, statusOfShare } from '../../../engine/links/state.ts'
import { boundedText } from '../../../engine/events/bounded-text.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import { findObject, findTarget } from '../../objects/find-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { invalid, ManagementError } from '../errors.ts'
import { bucketIn, type ObjectRequest, requireFound, requireKey, versionOf } from '../object-lookup.ts'
import { SENT_TIME, type SentExpiry, sentExpiry } from '../schemas/common.ts'
import { orNull, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

/** Bounds of the seconds until a link expires: from a minute to ten years. */
const LINK_LIFETIMES = { minimum: 60, maximum: 10 * 365 * 24 * 60 * 60 } as const

/** The members of a body that say when a link expires: one of the two, or none. */
export const LINK_EXPIRY = {
  expires_in_seconds: orNull(whole(LINK_LIFETIMES)),
  expires_at: orNull(SENT_TIME),
} as const

/** @throws ManagementError SHARE_NOT_FOUND */
export function requireShare(id: string, snapshot: CatalogSnapshot): ShareState {
  const found = snapshot.share(id)
  if (found === undefined) throw new ManagementError('SHARE_NOT_FOUND')
  return found
}

/** @throws ManagementError EMBED_NOT_FOUND */
export function requireEmbed(id: string, snapshot: CatalogSnapshot): EmbedState {
  const found = snapshot.embed(id)
  if (found === undefined) throw new ManagementError('EMBED_NOT_FOUND')
  return found
}

/** Members that shares and embeds have in common, without tokens and passwords. */
function linkRecord(
  link: ShareState | EmbedState,
  status: string,
  snapshot: CatalogSnapshot,
  { versionIds }: ManagementServices,
) {
  const isGone = status === 'active' && findTarget(snapshot, link) === undefined
  return {
    bucket: snapshot.bucketName(link.bucketId) ?? '',
    key: link.key,
    version_id: link.version === undefined ? null : versionIdOf(link.version, versionIds),
    status: isGone ? 'target_deleted' : status,
    created_at: rfc3339(link.createdMicroseconds),
    expires_at: rfc3339OrNull(link.expiresMicroseconds),
    revoked_at: rfc3339OrNull(link.revokedMicroseconds),
  }
}

/** A share without its token. */
export function shareRecord(share: ShareState, snapshot: CatalogSnapshot, services: ManagementServices) {
  const { maximumDownloads, downloads } = share
  return {
    id: share.share,
    ...linkRecord(share, statusOfShare(share, services.expiryClock()), snapshot, services),
    file_name: share.fileName ?? null,
    password_protected: share.password !== undefined,
    maximum_downloads: maximumDownloads ?? null,
    downloads: maximumDownloads === undefined ? null : downloads,
  }
}

/** An embed without its token. */
export function embedRecord(embed: EmbedState, snapshot: CatalogSnapshot, services: ManagementServices) {
  return {
    id: embed.embed,
    ...linkRecord(embed, statusOfEmbed(embed, services.expiryClock()), snapshot, services),
    allowed_origins: embed.allowedOrigins,
    cache_seconds: embed.cacheSeconds,
  }
}

/** The address of a share by its token. */
export function shareUrl(token: string, { sharing }: ManagementServices): string {
  return `${sharing.settings().shareUrl}/s/${token}`
}

/** The address of an embed by its token. */
export function embedUrl(token: string, { sharing }: ManagementServices): string {
  return `${sharing.settings().embedUrl}/e/${token}`
}

/** @throws ManagementError SHARING_DISABLED */
export function requireSharing({ sharing }: ManagementServices): void {
  if (!sharing.settings().enabled) throw new ManagementError('SHARING_DISABLED')
}

/**
 * Time of expiry of a link by its body; undefined for a link that never expires.
 * @throws ManagementError INVALID_REQUEST for both forms, and when it would live longer than the deployment allows
 */
export function linkExpiry(
  sent: SentExpiry,
  now: Milliseconds,
  { sharing }: ManagementServices,
): Microseconds | undefined {
  const expires = sentExpiry(sent, now, LINK_LIFETIMES) ?? undefined
  const { maximumLifetimeSeconds: maximum } = sharing.settings()
  if (maximum !== undefined && (expires ?? Infinity) / 1000 > now + maximum * 1000) {
    const field = sent.expires_at == null ? 'expires_in_seconds' : 'expires_at'
    const most = field === 'expires_at' ? `${maximum} seconds from now` : String(maximum)
    throw invalid(field, `must be sent, and be at most ${most} (sharing.maximum_lifetime_seconds)`)
  }
  return expires
}

/**
 * The object of a new link.
 * @throws ManagementError BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, VERSION_NOT_FOUND, VERSION_IS_MARKER, INVALID_REQUEST
 */
export function requireTarget(
  request: ObjectRequest,
  versionId: string | undefined,
  services: ManagementServices,
): { readonly bucket: string; readonly key: string; readonly version: VersionName | undefined } {
  const snapshot = services.catalog.snapshot()
  const bucket = bucketIn(snapshot, request.parameters.bucket)
  const key = requireKey(request)
  const version = versionId === undefined ? undefined : versionOf(versionId, services)
  requireFound(findObject(snapshot, bucket, key, version))
  return { bucket: bucket.name, key, version }
}

/** Resource in records: the target of a link (specification, Audit event). */
type Resource = (parts: Readonly<Record<string, string>>, services: ManagementServices) => string | undefined

function resourceOf(bucket: string, key: string): string {
  return boundedText(`bucket:${bucket}/${key}`, 'bucket:'.length + 64 + KEY_BYTES_MAXIMUM)
}

function resourceOfLink(link: ShareState | EmbedState | undefined, snapshot: CatalogSnapshot): string | undefined {
  const bucket = link && snapshot.bucketName(link.bucketId)
  return bucket === undefined ? undefined : resourceOf(bucket, link?.key ?? '')
}

export const OBJECT_RESOURCE: Resource = ({ bucket = '', key = '' }) => resourceOf(bucket, key)

export const SHARE_RESOURCE: Resource = ({ id = '' }, { catalog }) => {
  const snapshot = catalog.snapshot()
  return resourceOfLink(snapshot.share(id), snapshot)
}

export const EMBED_RESOURCE: Resource = ({ id = '' }, { catalog }) => {
  const snapshot = catalog.snapshot()
  return resourceOfLink(snapshot.embed(id), snapshot)
}

/** A place in a list of links: oldest first. */
export function placeOfLink(createdMicroseconds: Microseconds, id: string): [created: string, id: string] {
  return [String(createdMicroseconds).padStart(16, '0'), id]
}
