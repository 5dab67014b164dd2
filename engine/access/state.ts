import type { BucketId, Microseconds } from '../brands.ts'
import type { EndsState } from '../state-ports.ts'
import type { ManagementRole, PolicyStatement } from '../events/values.ts'

/** A service account. */
export interface AccountState {
  readonly account: string
  readonly title: string
  readonly description: string
  readonly enabled: boolean
  readonly createdMicroseconds: Microseconds
  /** Oldest first. */
  readonly credentials: readonly { readonly credential: string; readonly accessKey: string }[]
  /** Ids of the attached policies, in the order of attaching. */
  readonly policies: readonly string[]
}

export interface CredentialState {
  readonly credential: string
  readonly accessKey: string
  readonly account: string
  readonly sealedSecret: Uint8Array
  readonly enabled: boolean
  readonly createdMicroseconds: Microseconds
  readonly expiresMicroseconds: Microseconds | undefined
}

export interface PolicyState {
  readonly policy: string
  readonly title: string
  readonly createdMicroseconds: Microseconds
  readonly statements: readonly PolicyStatement[]
}

/** The policy of a bucket. */
export interface BucketPolicyState {
  /** As it was sent. */
  readonly document: string
  /** Ids, in the order in which the document names accounts first. */
  readonly accounts: readonly string[]
}

/** A token of the management plane. */
export interface TokenState {
  readonly token: string
  readonly title: string
  readonly role: ManagementRole
  /** SHA-256 of the token. */
  readonly digest: Uint8Array
  readonly createdMicroseconds: Microseconds
  readonly expiresMicroseconds: Microseconds | undefined
}

/** State of access as the rules read it. Implemented by the projections. */
export interface AccessState extends EndsState {
  account(account: string): AccountState | undefined
  /** Whether an account has a title that compares the same (account-title.ts). */
  titleIsTaken(title: string): boolean
  credential(accessKey: string): CredentialState | undefined
  policy(policy: string): PolicyState | undefined
  /** Whether any account has it. Looks at all accounts. */
  policyIsAttached(policy: string): boolean
  bucketPolicy(bucketId: BucketId): BucketPolicyState | undefined
  token(token: string): TokenState | undefined
}
