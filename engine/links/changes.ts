/**
 * Changes of shares and embeds: links that let their holders read an object. They are authenticated as changes of
 * access are, because a forged one would open an object, or a link that was revoked.
 */
import { headerText, identifier, objectKey } from '../events/names.ts'
import { defineChange } from '../events/schema/change.ts'
import { bucketId, bytes, digest, integer, listOf, microseconds, optional } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'
import { passwordRecord, pinnedVersion } from '../events/values.ts'

const share = field(identifier, 'share id')
const embed = field(identifier, 'embed id')
const target = {
  bucketId: field(bucketId, 'bucket id'),
  key: field(objectKey, 'key'),
  version: field(optional(pinnedVersion), 'version', 'nil: the current object of the key'),
  digest: field(digest, 'digest of the token', 'HMAC-SHA256, see "Links"'),
  /** Under the master key (engine/keys/secret-box.ts); never the token itself. */
  sealedToken: field(bytes, 'sealed token'),
}
const expiresMicroseconds = field(optional(microseconds), 'expiry', 'since 1970; nil: never')
const allowedOrigins = field(listOf(headerText), 'allowed origins')
const cacheSeconds = field(integer, 'seconds in caches')

export const shareCreated = defineChange('share.created', 70, {
  share,
  ...target,
  fileName: field(optional(headerText), 'file name', 'of the download; nil: the end of the key'),
  password: field(optional(passwordRecord), 'password', 'nil: none'),
  expiresMicroseconds,
  maximumDownloads: field(optional(integer), 'most downloads', 'nil: any number'),
})

/** It is dead for ever, and stays in the lists. */
export const shareRevoked = defineChange('share.revoked', 71, { share })

export const shareDeleted = defineChange('share.deleted', 72, { share })

/** One more download of a share with a limit. Durable before the first byte of it is sent. */
export const shareDownloaded = defineChange('share.downloaded', 73, { share })

export const embedCreated = defineChange('embed.created', 75, {
  embed,
  ...target,
  allowedOrigins,
  expiresMicroseconds,
  cacheSeconds,
})

export const embedUpdated = defineChange('embed.updated', 76, {
  embed,
  allowedOrigins,
  expiresMicroseconds,
  cacheSeconds,
})

export const embedRevoked = defineChange('embed.revoked', 77, { embed })

export const embedDeleted = defineChange('embed.deleted', 78, { embed })
