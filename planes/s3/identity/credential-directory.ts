import type { Milliseconds } from '../../../engine/brands.ts'
import { type CompiledPolicies, compilePolicies } from '../../../engine/access/policy.ts'
import { ROOT_CREDENTIAL_ID } from '../../../engine/events/audit.ts'
import type { SecretBox } from '../../../engine/keys/secret-box.ts'
import type { AccessReader } from '../../../projections/access/reader.ts'
import type { Credential } from '../signing/identity.ts'

/** Bound of the cached credentials. */
const CREDENTIALS_MAXIMUM = 10_000

/** A credential that may not sign now, for the record of a refused request. */
export interface RefusedCredential {
  /** Undefined for an access key that the store has never issued. */
  readonly credentialId: string | undefined
  readonly account: string | undefined
  readonly state: 'unknown' | 'deleted' | 'disabled' | 'expired' | 'usable'
  /** Undefined when it is not known any more. */
  readonly secretKey: string | undefined
}

const UNKNOWN: RefusedCredential = {
  credentialId: undefined,
  account: undefined,
  state: 'unknown',
  secretKey: undefined,
}

function describedRoot({ credentialId, secretKey }: Credential, state: RefusedCredential['state']): RefusedCredential {
  return { credentialId, account: undefined, state, secretKey }
}

/** A usable credential and its expiry. */
interface Known {
  readonly credential: Credential
  readonly expiresMilliseconds: number
}

/** The root credential, which may do everything. */
export function rootCredentialOf(accessKey: string, secretKey: string): Credential {
  return { accessKey, secretKey, principal: 'system:root', credentialId: ROOT_CREDENTIAL_ID, policies: undefined }
}

/**
 * Cache of the credentials that may sign, with the compiled policies of their accounts. It is cleared on every change
 * of access: each request compares one number, so a change applies to every request that starts after it was
 * acknowledged, on every thread.
 */
export class CredentialDirectory {
  readonly #access: AccessReader
  readonly #secrets: SecretBox
  readonly #root: Credential | undefined
  readonly #clock: () => Milliseconds
  readonly #changes: () => number
  readonly #closedRoot: Credential | undefined
  readonly #known = new Map<string, Known>()
  #version: number | undefined

  /**
   * `root`: the root credential, undefined when it may not be used on this plane. `clock`: judges what has expired.
   * `changes`: a number that is different after each acknowledged change of access. `closedRoot`: the root credential that
   * may not be used on this plane, so that records of refused requests can name it.
   */
  constructor(
    access: AccessReader,
    secrets: SecretBox,
    root: Credential | undefined,
    clock: () => Milliseconds,
    changes: () => number = () => access.version(),
    closedRoot?: Credential,
  ) {
    this.#access = access
    this.#secrets = secrets
    this.#root = root
    this.#clock = clock
    this.#changes = changes
    this.#closedRoot = closedRoot
  }

  /** The credential of an access key, unless it is unknown, disabled or expired, or its account is. */
  lookup(accessKey: string): Credential | undefined {
    if (accessKey === this.#root?.accessKey) return this.#root
    this.#forgetWhatChanged()
    const known = this.#known.get(accessKey) ?? this.#learn(accessKey)
    if (known === undefined) return undefined
    // Most credentials never expire, so the clock is not read for them.
    const expires = known.expiresMilliseconds
    return expires === Number.POSITIVE_INFINITY || expires > this.#clock() ? known.credential : undefined
  }

  /** What an access key is, whether or not it may sign. Reads the rows each time: it is for refusals. */
  describe(accessKey: string): RefusedCredential {
    if (accessKey === this.#root?.accessKey) return describedRoot(this.#root, 'usable')
    if (accessKey === this.#closedRoot?.accessKey) return describedRoot(this.#closedRoot, 'disabled')
    this.#access.version()
    const stored = this.#access.credential(accessKey)
    if (stored === undefined) return this.#deleted(accessKey)
    const { credential: credentialId, account, expiresMicroseconds: expires } = stored
    const isEnabled = stored.enabled && this.#access.account(account)?.enabled === true
    const isExpired = expires !== undefined && expires <= this.#clock() * 1000
    const state = isExpired ? 'expired' : isEnabled ? 'usable' : 'disabled'
    return { credentialId, account, state, secretKey: this.#secrets.open(stored.sealedSecret, accessKey) }
  }

  #deleted(accessKey: string): RefusedCredential {
    const deleted = this.#access.deletedCredential(accessKey)
    if (deleted === undefined) return UNKNOWN
    const { credential: credentialId, account } = deleted
    return { credentialId, account, state: 'deleted', secretKey: undefined }
  }

  #forgetWhatChanged(): void {
    const version = this.#changes()
    if (version === this.#version && this.#known.size < CREDENTIALS_MAXIMUM) return
    this.#known.clear()
    this.#version = version
  }

  #learn(accessKey: string): Known | undefined {
    // The version was read before, so the data is at least that new; a later change raises the version again.
    this.#access.version()
    const stored = this.#access.credential(accessKey)
    const account = stored && this.#access.account(stored.account)
    if (stored?.enabled !== true || account?.enabled !== true) return undefined
    const credential: Credential = {
      accessKey,
      secretKey: this.#secrets.open(stored.sealedSecret, accessKey),
      principal: `service_account:${account.account}`,
      credentialId: stored.credential,
      policies: this.#policiesOf(account.policies),
    }
    const known = { credential, expiresMilliseconds: (stored.expiresMicroseconds ?? Number.POSITIVE_INFINITY) / 1000 }
    this.#known.set(accessKey, known)
    return known
  }

  #policiesOf(policies: readonly string[]): CompiledPolicies {
    return compilePolicies(policies.flatMap((policy) => this.#access.policy(policy)?.statements ?? []))
  }
}
