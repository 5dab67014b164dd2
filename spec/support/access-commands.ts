/** Commands of access as the management plane sends them, with ids and secrets that a spec can tell apart. */
import { microsecondsOf } from '../../engine/brands.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import type { ManagementRole, PolicyStatement } from '../../engine/events/values.ts'
import { auditOf, digestOf } from './commands.ts'

const audit = auditOf('POST /spec', '/spec')

/** Its first credential is `first of <account>`, with the access key `<account>-KEY`. */
export function createAccount(account: string): CommandOf<'create-account'> {
  const text = { title: `title of ${account}`, description: '' }
  const sealedSecret = Buffer.from(`secret of ${account}`)
  const first = { credential: `first of ${account}`, accessKey: `${account}-KEY`, sealedSecret }
  return { kind: 'create-account', audit, account, ...text, ...first }
}

export function setAccountStatus(account: string, enabled: boolean): CommandOf<'set-account-status'> {
  return { kind: 'set-account-status', audit, account, enabled }
}

export function deleteAccount(account: string): CommandOf<'delete-account'> {
  return { kind: 'delete-account', audit, account }
}

/** The access key is `<credential>-KEY`. `expires`: microseconds since 1970. */
export function issueCredential(account: string, credential: string, expires?: number): CommandOf<'issue-credential'> {
  const accessKey = `${credential}-KEY`
  const sealedSecret = Buffer.from(`secret of ${credential}`)
  const expiresMicroseconds = expires === undefined ? undefined : microsecondsOf(expires)
  return { kind: 'issue-credential', audit, account, credential, accessKey, sealedSecret, expiresMicroseconds }
}

export function setCredentialStatus(
  account: string,
  credential: string,
  enabled: boolean,
): CommandOf<'set-credential-status'> {
  return { kind: 'set-credential-status', audit, account, credential, enabled }
}

export function createPolicy(policy: string, ...statements: PolicyStatement[]): CommandOf<'create-policy'> {
  return { kind: 'create-policy', audit, policy, title: `title of ${policy}`, statements }
}

export function replacePolicy(policy: string, ...statements: PolicyStatement[]): CommandOf<'replace-policy'> {
  return { kind: 'replace-policy', audit, policy, title: `title of ${policy}`, statements }
}

export function deletePolicy(policy: string): CommandOf<'delete-policy'> {
  return { kind: 'delete-policy', audit, policy }
}

export function attachPolicy(policy: string, account: string): CommandOf<'attach-policy'> {
  return { kind: 'attach-policy', audit, policy, account }
}

export function detachPolicy(policy: string, account: string): CommandOf<'detach-policy'> {
  return { kind: 'detach-policy', audit, policy, account }
}

/** The token itself is its id, as far as its digest goes. */
export function issueToken(token: string, role: ManagementRole, expires?: number): CommandOf<'issue-token'> {
  const digest = digestOf(Buffer.from(token))
  const expiresMicroseconds = expires === undefined ? undefined : microsecondsOf(expires)
  return { kind: 'issue-token', audit, token, title: `title of ${token}`, role, digest, expiresMicroseconds }
}

export function revokeToken(token: string): CommandOf<'revoke-token'> {
  return { kind: 'revoke-token', audit, token }
}
