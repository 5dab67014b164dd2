import type { Microseconds, Milliseconds } from '../../../engine/brands.ts'
import { type Pairs, ROOT_CREDENTIAL_ID } from '../../../engine/events/audit.ts'
import { claimedCredential } from '../../../engine/records/claimed-credentials.ts'
import type { ManagementRole } from '../../../engine/events/values.ts'
import type { AccessReader } from '../../../projections/access/reader.ts'
import { bearerToken, isSameSecret, tokenDigest } from './bearer-token.ts'

/** The authenticated sender of a request to the management plane. */
export interface ManagementIdentity {
  readonly role: ManagementRole
  /** Id of the token, `system` for the configured one, `root` for the root credential. */
  readonly credentialId: string
  /** Microseconds since 1970; undefined for a credential that does not expire. */
  readonly expiresMicroseconds: Microseconds | undefined
}

/** The credentials in the configuration. */
interface ConfiguredCredentials {
  readonly systemToken: string | undefined
  readonly rootAccessKey: string
  readonly rootSecretKey: string
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i

/**
 * Identifies the sender of a request by its Authorization header: a management token (RFC 6750) or the root credential
 * by HTTP Basic (RFC 7617). Returns undefined for a missing, unknown, revoked or expired credential.
 */
export class ManagementAuthenticator {
  readonly #configured: ConfiguredCredentials
  readonly #access: AccessReader
  readonly #clock: () => Milliseconds

  /** `clock`: milliseconds since 1970, by which tokens expire. */
  constructor(configured: ConfiguredCredentials, access: AccessReader, clock: () => Milliseconds) {
    this.#configured = configured
    this.#access = access
    this.#clock = clock
  }

  /**
   * What a refused Authorization header claims, as pairs for the record of the request. The id of a token is proven,
   * since it is found by the token; the root credential may be a guess.
   */
  claimOf(authorization: string | undefined): Pairs {
    const token = bearerToken(authorization)
    if (token !== undefined) {
      const digest = tokenDigest(token)
      const issued = this.#access.tokenByDigest(digest)?.token
      if (issued !== undefined) return claimedCredential(issued, undefined, 'expired')
      const revoked = this.#access.revokedToken(digest)
      return claimedCredential(revoked, undefined, revoked === undefined ? 'unknown' : 'deleted')
    }
    const basic = BASIC.exec(authorization ?? '')?.[1]
    if (basic === undefined) return []
    const pair = Buffer.from(basic, 'base64').toString()
    const isRoot = isSameSecret(pair.slice(0, Math.max(pair.indexOf(':'), 0)), this.#configured.rootAccessKey)
    return claimedCredential(isRoot ? ROOT_CREDENTIAL_ID : undefined, undefined, isRoot ? 'wrong-secret' : 'unknown')
  }

  authenticate(authorization: string | undefined): ManagementIdentity | undefined {
    const token = bearerToken(authorization)
    if (token !== undefined) return this.#ofToken(token)
    const basic = BASIC.exec(authorization ?? '')?.[1]
    return basic === undefined ? undefined : this.#ofRoot(Buffer.from(basic, 'base64').toString())
  }

  #ofToken(token: string): ManagementIdentity | undefined {
    const { systemToken } = this.#configured
    const isSystem = systemToken !== undefined && isSameSecret(token, systemToken)
    // An issued token is looked up by its digest, so the timing of the comparison reveals nothing useful.
    const issued = this.#access.tokenByDigest(tokenDigest(token))
    if (isSystem) return { role: 'system-administrator', credentialId: 'system', expiresMicroseconds: undefined }
    if (issued === undefined) return undefined
    const { role, token: credentialId, expiresMicroseconds } = issued
    if (expiresMicroseconds !== undefined && expiresMicroseconds <= this.#clock() * 1000) return undefined
    return { role, credentialId, expiresMicroseconds }
  }

  #ofRoot(pair: string): ManagementIdentity | undefined {
    const { rootAccessKey, rootSecretKey } = this.#configured
    const colon = pair.indexOf(':')
    const name = pair.slice(0, Math.max(colon, 0))
    const hasName = isSameSecret(name, rootAccessKey)
    const hasSecret = isSameSecret(pair.slice(colon + 1), rootSecretKey)
    if (!hasName || !hasSecret || colon < 0) return undefined
    return { role: 'system-administrator', credentialId: ROOT_CREDENTIAL_ID, expiresMicroseconds: undefined }
  }
}
