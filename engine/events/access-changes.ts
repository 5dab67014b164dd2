/** The part of the journal's vocabulary that says who may do what. */

/** One rule of a policy (specification, Policy). */
export interface PolicyStatement {
  readonly effect: 'allow' | 'deny'
  /** Names such as `s3:GetObject`, or with a trailing `*`. */
  readonly actions: readonly string[]
  /** Such as `bucket:photos/2026/*`: canonical decoded keys, a wildcard only at the end. */
  readonly resources: readonly string[]
}

/** Roles of the management plane. The order is that of their codes in the journal. */
export const MANAGEMENT_ROLES = ['system-administrator', 'storage-administrator', 'auditor'] as const
export type ManagementRole = (typeof MANAGEMENT_ROLES)[number]

export interface AccountCreated {
  readonly name: 'account.created'
  readonly account: string
  readonly title: string
  readonly description: string
}

export interface AccountStatusSet {
  readonly name: 'account.status-set'
  readonly account: string
  readonly enabled: boolean
}

/** With it go its credentials and its bindings. */
export interface AccountDeleted {
  readonly name: 'account.deleted'
  readonly account: string
}

export interface CredentialIssued {
  readonly name: 'credential.issued'
  readonly account: string
  readonly credential: string
  readonly accessKey: string
  /** The secret key under the master key (engine/secret-box.ts); never the secret itself. */
  readonly sealedSecret: Uint8Array
  /** Microseconds since 1970; undefined for one that does not expire. */
  readonly expiresMicroseconds: number | undefined
}

export interface CredentialStatusSet {
  readonly name: 'credential.status-set'
  readonly accessKey: string
  readonly enabled: boolean
}

/** It could not sign any more, and made room for another one. */
export interface CredentialRemoved {
  readonly name: 'credential.removed'
  readonly accessKey: string
}

export interface PolicyCreated {
  readonly name: 'policy.created'
  readonly policy: string
  readonly title: string
  readonly statements: readonly PolicyStatement[]
}

export interface PolicyAttached {
  readonly name: 'policy.attached'
  readonly policy: string
  readonly account: string
}

export interface PolicyDetached {
  readonly name: 'policy.detached'
  readonly policy: string
  readonly account: string
}

/** A token of the management plane. Only its digest is kept. */
export interface TokenIssued {
  readonly name: 'token.issued'
  readonly token: string
  readonly title: string
  readonly role: ManagementRole
  /** SHA-256 of the token, 32 bytes. */
  readonly digest: Uint8Array
  readonly expiresMicroseconds: number | undefined
}

export interface TokenRevoked {
  readonly name: 'token.revoked'
  readonly token: string
}

export type AccessChange =
  | AccountCreated
  | AccountStatusSet
  | AccountDeleted
  | CredentialIssued
  | CredentialStatusSet
  | CredentialRemoved
  | PolicyCreated
  | PolicyAttached
  | PolicyDetached
  | TokenIssued
  | TokenRevoked
