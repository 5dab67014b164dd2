/** Commands of access as the management plane sends them, with ids and secrets that a spec can tell apart. */
import type {
  AttachPolicy,
  CreateAccount,
  CreatePolicy,
  DeleteAccount,
  DetachPolicy,
  IssueCredential,
  IssueToken,
  RevokeToken,
  SetAccountStatus,
  SetCredentialStatus,
} from '../../engine/access-commands.ts'
import type { ManagementRole, PolicyStatement } from '../../engine/events/access-changes.ts'
import { auditOf, digestOf } from './commands.ts'

const audit = auditOf('POST /spec', '/spec')

/** Its first credential is `first of <account>`, with the access key `<account>-KEY`. */
export function createAccount(account: string): CreateAccount {
  const text = { title: `title of ${account}`, description: '' }
  const sealedSecret = Buffer.from(`secret of ${account}`)
  const first = { credential: `first of ${account}`, accessKey: `${account}-KEY`, sealedSecret }
  return { kind: 'create-account', audit, account, ...text, ...first }
}

export function setAccountStatus(account: string, enabled: boolean): SetAccountStatus {
  return { kind: 'set-account-status', audit, account, enabled }
}

export function deleteAccount(account: string): DeleteAccount {
  return { kind: 'delete-account', audit, account }
}

/** The access key is `<credential>-KEY`. `expiresMicroseconds` since 1970. */
export function issueCredential(account: string, credential: string, expiresMicroseconds?: number): IssueCredential {
  const accessKey = `${credential}-KEY`
  const sealedSecret = Buffer.from(`secret of ${credential}`)
  return { kind: 'issue-credential', audit, account, credential, accessKey, sealedSecret, expiresMicroseconds }
}

export function setCredentialStatus(account: string, credential: string, enabled: boolean): SetCredentialStatus {
  return { kind: 'set-credential-status', audit, account, credential, enabled }
}

export function createPolicy(policy: string, ...statements: PolicyStatement[]): CreatePolicy {
  return { kind: 'create-policy', audit, policy, title: `title of ${policy}`, statements }
}

export function attachPolicy(policy: string, account: string): AttachPolicy {
  return { kind: 'attach-policy', audit, policy, account }
}

export function detachPolicy(policy: string, account: string): DetachPolicy {
  return { kind: 'detach-policy', audit, policy, account }
}

/** The token itself is its id, as far as its digest goes. */
export function issueToken(token: string, role: ManagementRole, expiresMicroseconds?: number): IssueToken {
  const digest = digestOf(Buffer.from(token))
  return { kind: 'issue-token', audit, token, title: `title of ${token}`, role, digest, expiresMicroseconds }
}

export function revokeToken(token: string): RevokeToken {
  return { kind: 'revoke-token', audit, token }
}
