import type { Microseconds } from '../brands.ts'
import type { PasswordRecord } from '../events/values.ts'
import type { VersionName } from '../commands/version-name.ts'

interface NewLink {
  bucket: string
  key: string
  /** Undefined: whatever the current object is; there must be one now. */
  version: VersionName | undefined
  /** Of the token, 32 bytes (engine/links/capability-tokens.ts). */
  digest: Uint8Array
  sealedToken: Uint8Array
}

/** Commands on links. The caller makes ids and tokens, and holds expiry and password against the settings. */
export interface SharingCommands {
  'create-share': NewLink & {
    share: string
    fileName: string | undefined
    password: PasswordRecord | undefined
    expiresMicroseconds: Microseconds | undefined
    maximumDownloads: number | undefined
  }
  /** A share that is revoked stays so: a success that changes nothing. */
  'revoke-share': { share: string }
  'delete-share': { share: string }
  /**
   * Takes one download of a share with a limit; of `maximumDownloads` commands at most succeed, however they come.
   * Without a limit it changes nothing. It has no attempt, since the store itself sends it.
   */
  'count-download': { share: string }
  'create-embed': NewLink & {
    embed: string
    /** Origins as browsers send them, or `*`; each is text that a header may hold. */
    allowedOrigins: readonly string[]
    expiresMicroseconds: Microseconds | undefined
    cacheSeconds: number
  }
  /** Undefined fields stay as they are. */
  'update-embed': {
    embed: string
    allowedOrigins: readonly string[] | undefined
    expiry: { readonly expiresMicroseconds: Microseconds | undefined } | undefined
    cacheSeconds: number | undefined
  }
  'revoke-embed': { embed: string }
  'delete-embed': { embed: string }
}
