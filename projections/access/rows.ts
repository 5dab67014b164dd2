import type { CredentialUse } from '../../engine/journal/credential-uses.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { BucketId, Microseconds, Sequence } from '../../engine/brands.ts'
import type {
  AccessState,
  AccountState,
  BucketPolicyState,
  CredentialState,
  PolicyState,
  TokenState,
} from '../../engine/access/state.ts'
import type { AccessChange } from '../../engine/access/change-types.ts'
import type { EndsSpan } from '../../engine/state-ports.ts'
import { type Ending, endsIn, putEnd, removeEnd } from '../tables/ends.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import type { NamedTables } from '../tables/named-tables.ts'
import {
  accountRows,
  credentialRows,
  deletedCredentialRows,
  deletedNameRows,
  getBucketPolicy,
  policyRows,
  putBucketPolicy,
  putAccessCode,
  putAccessVersion,
  putDeletedToken,
  putLastUse,
  putTitle,
  removeTitle,
  titleIsTaken,
  tokenRows,
  type accessTables,
} from './tables.ts'

type RowTables = NamedTables<typeof accessTables>

function endOfCredential({
  credential,
  expiresMicroseconds,
}: Pick<CredentialState, 'credential' | 'expiresMicroseconds'>): Ending {
  return { kind: 'credential', id: credential, expiresMicroseconds }
}

function endOfToken({ token, expiresMicroseconds }: Pick<TokenState, 'token' | 'expiresMicroseconds'>): Ending {
  return { kind: 'management token', id: token, expiresMicroseconds }
}

/** Applies changes to accounts, credentials, policies and tokens. */
export class AccessRows implements AccessState, FeatureRows<AccessChange> {
  changed = false
  readonly #tables: RowTables

  constructor(tables: RowTables) {
    this.#tables = tables
  }

  account(account: string): AccountState | undefined {
    return accountRows.get(this.#tables.accounts, account)
  }

  titleIsTaken(title: string): boolean {
    return titleIsTaken(this.#tables.accountTitles, title)
  }

  credential(accessKey: string): CredentialState | undefined {
    return credentialRows.get(this.#tables.credentials, accessKey)
  }

  policy(policy: string): PolicyState | undefined {
    return policyRows.get(this.#tables.policies, policy)
  }

  policyIsAttached(policy: string): boolean {
    return accountRows.all(this.#tables.accounts).some(({ policies }) => policies.includes(policy))
  }

  bucketPolicy(bucketId: BucketId): BucketPolicyState | undefined {
    return getBucketPolicy(this.#tables.bucketPolicies, bucketId)
  }

  /** A bucket of the same name has another id. */
  bucketDeleted(bucketId: BucketId): void {
    if (this.bucketPolicy(bucketId) === undefined) return
    putBucketPolicy(this.#tables.bucketPolicies, bucketId, { document: undefined, accounts: [] })
  }

  endsIn(span: EndsSpan): boolean {
    return endsIn(this.#tables.accessEnds, span)
  }

  token(token: string): TokenState | undefined {
    return tokenRows.get(this.#tables.tokens, token)
  }

  apply(sequence: Sequence, { timeMicroseconds }: RecordTimes, change: AccessChange): void {
    this.#applyOne(timeMicroseconds, change)
    // Entries about webhooks and links end with it as well; they change nothing that is kept of accounts and tokens.
    if (change.name === 'access.authenticated') return
    this.changed = true
    putAccessVersion(this.#tables.accessVersion, sequence)
  }

  finish(_position: AppliedPosition, uses: readonly CredentialUse[]): void {
    for (const use of uses) putLastUse(this.#tables.lastUses, use)
  }

  #applyOne(createdMicroseconds: Microseconds, change: AccessChange): void {
    const { credentials, policies, tokens, tokenDigests } = this.#tables
    switch (change.name) {
      case 'account.created': {
        const { account, title, description } = change
        const state = { account, title, description, enabled: true, createdMicroseconds }
        putTitle(this.#tables.accountTitles, state)
        return accountRows.put(this.#tables.accounts, { ...state, credentials: [], policies: [] })
      }
      case 'account.status-set':
        return this.#changeAccount(change.account, () => ({ enabled: change.enabled }))
      case 'account.deleted':
        return this.#deleteAccount(change.account)
      case 'credential.issued': {
        const { account, credential, accessKey, sealedSecret, expiresMicroseconds } = change
        const state = { account, credential, accessKey, sealedSecret, enabled: true }
        credentialRows.put(credentials, { ...state, createdMicroseconds, expiresMicroseconds })
        putEnd(this.#tables.accessEnds, endOfCredential(change))
        const issued = { credential, accessKey }
        return this.#changeAccount(account, (before) => ({ credentials: [...before.credentials, issued] }))
      }
      case 'credential.status-set': {
        const before = this.#requireCredential(change.accessKey)
        return credentialRows.put(credentials, { ...before, enabled: change.enabled })
      }
      case 'credential.removed':
        return this.#removeCredential(this.#requireCredential(change.accessKey))
      case 'policy.created': {
        const { policy, title, statements } = change
        return policyRows.put(policies, { policy, title, createdMicroseconds, statements })
      }
      case 'policy.replaced': {
        const { policy, title, statements } = change
        const before = policyRows.get(policies, policy)
        if (before === undefined) throw new Error(`policy ${policy} is replaced but not there`)
        return policyRows.put(policies, { ...before, title, statements })
      }
      case 'policy.deleted':
        return policies.remove(Buffer.from(change.policy))
      case 'policy.attached':
        return this.#changeAccount(change.account, (before) => ({ policies: [...before.policies, change.policy] }))
      case 'policy.detached':
        return this.#changeAccount(change.account, (before) => ({
          policies: before.policies.filter((policy) => policy !== change.policy),
        }))
      case 'bucket-policy.set': {
        return putBucketPolicy(this.#tables.bucketPolicies, change.bucketId, change)
      }
      case 'token.issued': {
        const { token, title, role, digest, expiresMicroseconds } = change
        tokenDigests.put(Buffer.from(digest), Buffer.from(token))
        putEnd(this.#tables.accessEnds, endOfToken(change))
        return tokenRows.put(tokens, { token, title, role, digest, createdMicroseconds, expiresMicroseconds })
      }
      case 'token.revoked': {
        const before = tokenRows.get(tokens, change.token)
        if (before === undefined) throw new Error(`token ${change.token} is revoked but not there`)
        tokenDigests.remove(Buffer.from(before.digest))
        removeEnd(this.#tables.accessEnds, endOfToken(before))
        putDeletedToken(this.#tables.deletedTokens, before)
        deletedNameRows.put(this.#tables.deletedNames, { id: before.token, title: before.title })
        return tokens.remove(Buffer.from(change.token))
      }
      case 'master-key.changed':
        return undefined
      case 'access.authenticated':
        return putAccessCode(this.#tables.accessVersion, change.mac)
    }
  }

  #removeCredential(before: CredentialState): void {
    this.#forgetCredential(before)
    this.#changeAccount(before.account, ({ credentials }) => ({
      credentials: credentials.filter(({ accessKey }) => accessKey !== before.accessKey),
    }))
  }

  #forgetCredential(before: CredentialState): void {
    removeEnd(this.#tables.accessEnds, endOfCredential(before))
    deletedCredentialRows.put(this.#tables.deletedCredentials, before)
    this.#tables.credentials.remove(Buffer.from(before.accessKey))
  }

  #requireAccount(account: string): AccountState {
    const found = this.account(account)
    if (found === undefined) throw new Error(`account ${account} is changed but not there`)
    return found
  }

  #requireCredential(accessKey: string): CredentialState {
    const found = this.credential(accessKey)
    if (found === undefined) throw new Error(`credential ${accessKey} is changed but not there`)
    return found
  }

  #changeAccount(account: string, changed: (before: AccountState) => Partial<AccountState>): void {
    const before = this.#requireAccount(account)
    accountRows.put(this.#tables.accounts, { ...before, ...changed(before) })
  }

  #deleteAccount(account: string): void {
    const before = this.#requireAccount(account)
    for (const { accessKey } of before.credentials) this.#forgetCredential(this.#requireCredential(accessKey))
    removeTitle(this.#tables.accountTitles, before)
    deletedNameRows.put(this.#tables.deletedNames, { id: account, title: before.title })
    this.#tables.accounts.remove(Buffer.from(account))
  }
}
