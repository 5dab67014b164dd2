import type { ManagementRole, PolicyStatement } from './events/access-changes.ts'
import type { CommandBase } from './commands.ts'

/** Commands on who may do what. Ids are made by the caller; one that is taken is refused. */

/** A service account comes with its first credential, which does not expire. */
export interface CreateAccount extends CommandBase {
  readonly kind: 'create-account'
  readonly account: string
  readonly title: string
  readonly description: string
  readonly credential: string
  readonly accessKey: string
  readonly sealedSecret: Uint8Array
}

export interface SetAccountStatus extends CommandBase {
  readonly kind: 'set-account-status'
  readonly account: string
  readonly enabled: boolean
}

export interface DeleteAccount extends CommandBase {
  readonly kind: 'delete-account'
  readonly account: string
}

export interface IssueCredential extends CommandBase {
  readonly kind: 'issue-credential'
  readonly account: string
  readonly credential: string
  readonly accessKey: string
  readonly sealedSecret: Uint8Array
  /** Microseconds since 1970; undefined for one that does not expire. */
  readonly expiresMicroseconds: number | undefined
}

export interface SetCredentialStatus extends CommandBase {
  readonly kind: 'set-credential-status'
  readonly account: string
  readonly credential: string
  readonly enabled: boolean
}

export interface CreatePolicy extends CommandBase {
  readonly kind: 'create-policy'
  readonly policy: string
  readonly title: string
  /** Valid by `policyFault`. */
  readonly statements: readonly PolicyStatement[]
}

export interface AttachPolicy extends CommandBase {
  readonly kind: 'attach-policy'
  readonly policy: string
  readonly account: string
}

export interface DetachPolicy extends CommandBase {
  readonly kind: 'detach-policy'
  readonly policy: string
  readonly account: string
}

export interface IssueToken extends CommandBase {
  readonly kind: 'issue-token'
  readonly token: string
  readonly title: string
  readonly role: ManagementRole
  readonly digest: Uint8Array
  readonly expiresMicroseconds: number | undefined
}

export interface RevokeToken extends CommandBase {
  readonly kind: 'revoke-token'
  readonly token: string
}

export type AccessCommand =
  | CreateAccount
  | SetAccountStatus
  | DeleteAccount
  | IssueCredential
  | SetCredentialStatus
  | CreatePolicy
  | AttachPolicy
  | DetachPolicy
  | IssueToken
  | RevokeToken
