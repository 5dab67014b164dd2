import type { Microseconds } from '../../engine/brands.ts'
import type {
  AccountState,
  BucketPolicyState,
  CredentialState,
  PolicyState,
  TokenState,
} from '../../engine/access/state.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { getBucket } from '../tables/buckets.ts'
import {
  accountRows,
  accountsTitled,
  credentialRows,
  type DeletedCredential,
  deletedCredentialRows,
  deletedNameRows,
  getAccessVersion,
  getBucketPolicy,
  getLastUse,
  policyRows,
  tokenRows,
} from './tables.ts'

/**
 * Reads access, from any thread. After `version` reads see everything that was acknowledged before it; `account`,
 * `credential` and `policy` see the state of its last call.
 */
export class AccessReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** A number that changes with every change of access. It costs next to nothing, so derived values can be kept. */
  version(): number {
    this.#environment.refresh()
    return getAccessVersion(this.#tables.accessVersion)
  }

  /** By id. */
  accounts(): AccountState[] {
    this.#environment.refresh()
    return accountRows.all(this.#tables.accounts)
  }

  account(account: string): AccountState | undefined {
    return accountRows.get(this.#tables.accounts, account)
  }

  credential(accessKey: string): CredentialState | undefined {
    return credentialRows.get(this.#tables.credentials, accessKey)
  }

  /** By id. */
  policies(): PolicyState[] {
    this.#environment.refresh()
    return policyRows.all(this.#tables.policies)
  }

  policy(policy: string): PolicyState | undefined {
    return policyRows.get(this.#tables.policies, policy)
  }

  /** Whether any bucket has a policy. */
  hasBucketPolicies(): boolean {
    this.#environment.refresh()
    for (const _ of this.#tables.bucketPolicies.keys({ limit: 1 })) return true
    return false
  }

  /** The policy of the bucket that has a name now. */
  bucketPolicy(name: string): BucketPolicyState | undefined {
    this.#environment.refresh()
    const bucket = getBucket(this.#tables.buckets, name)
    return bucket && getBucketPolicy(this.#tables.bucketPolicies, bucket.id)
  }

  /** The id of the one account that has this text as its id or as its name; undefined for none, or for more than one. */
  accountNamed(text: string): string | undefined {
    this.#environment.refresh()
    const titled = accountsTitled(this.#tables.accountTitles, text)
    const found = new Set(titled.filter((id) => this.account(id)?.title === text))
    if (this.account(text) !== undefined) found.add(text)
    const [only, ...others] = found
    return others.length === 0 ? only : undefined
  }

  /** The name of an account or token by its id, also of a deleted account or token. Sees the state of the last `version`. */
  nameOf(id: string): string | undefined {
    const { accounts, tokens, deletedNames } = this.#tables
    const found = accountRows.get(accounts, id) ?? tokenRows.get(tokens, id) ?? deletedNameRows.get(deletedNames, id)
    return found?.title
  }

  /** A credential that was deleted, or whose account was. Sees the state of the last `version`. */
  deletedCredential(accessKey: string): DeletedCredential | undefined {
    return deletedCredentialRows.get(this.#tables.deletedCredentials, accessKey)
  }

  /** The id of a token with this SHA-256 that was revoked. */
  revokedToken(digest: Uint8Array): string | undefined {
    return this.#tables.deletedTokens.get(Buffer.from(digest))?.toString()
  }

  /**
   * A time at which a credential or token was used, at most a minute before the last one. Undefined when it never was. Sees
   * the state of the last `version`.
   */
  lastUse(id: string): Microseconds | undefined {
    return getLastUse(this.#tables.lastUses, id)
  }

  /** By id. */
  tokens(): TokenState[] {
    this.#environment.refresh()
    return tokenRows.all(this.#tables.tokens)
  }

  /** The token with this SHA-256, if it was issued and not revoked. The caller checks whether it has expired. */
  tokenByDigest(digest: Uint8Array): TokenState | undefined {
    this.#environment.refresh()
    const id = this.#tables.tokenDigests.get(Buffer.from(digest))
    return id === undefined ? undefined : tokenRows.get(this.#tables.tokens, id.toString())
  }
}
