import type { AccountState, CredentialState, PolicyState, TokenState } from '../engine/access-state.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { openTables, type Tables } from './table-list.ts'
import {
  allAccounts,
  allPolicies,
  allTokens,
  getAccessVersion,
  getAccount,
  getCredential,
  getPolicy,
  getToken,
} from './tables/access.ts'

/**
 * Reading who may do what, from any thread. `version` makes the reads that follow see everything that was acknowledged
 * before it; the others see the same state as the last call of it.
 */
export class AccessReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** A number that is another one after every change; costs next to nothing, so that what is derived can be kept. */
  version(): number {
    this.#environment.refresh()
    return getAccessVersion(this.#tables.accessVersion)
  }

  /** By id. */
  accounts(): AccountState[] {
    this.#environment.refresh()
    return allAccounts(this.#tables.accounts)
  }

  account(account: string): AccountState | undefined {
    return getAccount(this.#tables.accounts, account)
  }

  credential(accessKey: string): CredentialState | undefined {
    return getCredential(this.#tables.credentials, accessKey)
  }

  /** By id. */
  policies(): PolicyState[] {
    this.#environment.refresh()
    return allPolicies(this.#tables.policies)
  }

  policy(policy: string): PolicyState | undefined {
    return getPolicy(this.#tables.policies, policy)
  }

  /** By id. */
  tokens(): TokenState[] {
    this.#environment.refresh()
    return allTokens(this.#tables.tokens)
  }

  /** The token with this SHA-256, if it was issued and not revoked. Whether it has expired is for the caller. */
  tokenByDigest(digest: Uint8Array): TokenState | undefined {
    this.#environment.refresh()
    const id = this.#tables.tokenDigests.get(Buffer.from(digest))
    return id === undefined ? undefined : getToken(this.#tables.tokens, id.toString())
  }
}
