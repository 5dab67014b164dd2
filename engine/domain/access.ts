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
} from '../access-commands.ts'
import type { AccountState, CredentialState } from '../access-state.ts'
import { DomainError } from '../errors.ts'
import type { CredentialRemoved } from '../events/access-changes.ts'
import type { StateReader } from '../state-ports.ts'
import { type Decision, type DecisionContext, NOTHING_CHANGES } from './decision.ts'

/** Bounds of one service account: every request of it looks at all of them. */
const CREDENTIALS_MAXIMUM = 100
const POLICIES_MAXIMUM = 100

function requireAccount(state: StateReader, account: string): AccountState {
  const found = state.account(account)
  if (found === undefined) throw new DomainError('account-not-found', account)
  return found
}

export function decideCreateAccount(command: CreateAccount, { state }: DecisionContext): Decision {
  const { account, title, description, credential, accessKey, sealedSecret } = command
  if (state.account(account) !== undefined) throw new DomainError('account-exists', account)
  if (state.credential(accessKey) !== undefined) throw new DomainError('credential-exists', credential)
  return {
    changes: [
      { name: 'account.created', account, title, description },
      { name: 'credential.issued', account, credential, accessKey, sealedSecret, expiresMicroseconds: undefined },
    ],
  }
}

export function decideSetAccountStatus({ account, enabled }: SetAccountStatus, { state }: DecisionContext): Decision {
  if (requireAccount(state, account).enabled === enabled) return NOTHING_CHANGES
  return { changes: [{ name: 'account.status-set', account, enabled }] }
}

export function decideDeleteAccount({ account }: DeleteAccount, { state }: DecisionContext): Decision {
  requireAccount(state, account)
  return { changes: [{ name: 'account.deleted', account }] }
}

/**
 * A new credential stands beside the old ones, which go on working. Those that have expired make room for it, and in an
 * account that has as many as it may the oldest one that is disabled.
 */
export function decideIssueCredential(command: IssueCredential, { state, now }: DecisionContext): Decision {
  const { account, credential, accessKey, sealedSecret, expiresMicroseconds } = command
  const present = requireAccount(state, account).credentials.flatMap((other) => state.credential(other.accessKey) ?? [])
  const isTaken = state.credential(accessKey) !== undefined || present.some((other) => other.credential === credential)
  if (isTaken) throw new DomainError('credential-exists', credential)
  return {
    changes: [
      ...credentialsToRemove(present, now, account),
      { name: 'credential.issued', account, credential, accessKey, sealedSecret, expiresMicroseconds },
    ],
  }
}

function credentialsToRemove(present: readonly CredentialState[], now: number, account: string): CredentialRemoved[] {
  const hasExpired = ({ expiresMicroseconds = Number.POSITIVE_INFINITY }: CredentialState) =>
    expiresMicroseconds <= now * 1000
  const removed = present.filter(hasExpired)
  if (present.length - removed.length >= CREDENTIALS_MAXIMUM) {
    const disabled = present.find((other) => !other.enabled && !hasExpired(other))
    if (disabled === undefined) throw new DomainError('too-many-credentials', account)
    removed.push(disabled)
  }
  return removed.map(({ accessKey }) => ({ name: 'credential.removed', accessKey }))
}

export function decideSetCredentialStatus(command: SetCredentialStatus, { state }: DecisionContext): Decision {
  const { account, credential, enabled } = command
  const found = requireAccount(state, account).credentials.find((other) => other.credential === credential)
  const present = found && state.credential(found.accessKey)
  if (present === undefined) throw new DomainError('credential-not-found', credential)
  if (present.enabled === enabled) return NOTHING_CHANGES
  return { changes: [{ name: 'credential.status-set', accessKey: present.accessKey, enabled }] }
}

export function decideCreatePolicy({ policy, title, statements }: CreatePolicy, { state }: DecisionContext): Decision {
  if (state.policy(policy) !== undefined) throw new DomainError('policy-exists', policy)
  return { changes: [{ name: 'policy.created', policy, title, statements }] }
}

/** Attaching again is a success that changes nothing. */
export function decideAttachPolicy({ policy, account }: AttachPolicy, { state }: DecisionContext): Decision {
  if (state.policy(policy) === undefined) throw new DomainError('policy-not-found', policy)
  const { policies } = requireAccount(state, account)
  if (policies.includes(policy)) return NOTHING_CHANGES
  if (policies.length >= POLICIES_MAXIMUM) throw new DomainError('too-many-policies', account)
  return { changes: [{ name: 'policy.attached', policy, account }] }
}

export function decideDetachPolicy({ policy, account }: DetachPolicy, { state }: DecisionContext): Decision {
  if (state.policy(policy) === undefined) throw new DomainError('policy-not-found', policy)
  if (!requireAccount(state, account).policies.includes(policy)) throw new DomainError('policy-not-attached', policy)
  return { changes: [{ name: 'policy.detached', policy, account }] }
}

export function decideIssueToken(command: IssueToken, { state }: DecisionContext): Decision {
  const { token, title, role, digest, expiresMicroseconds } = command
  if (state.token(token) !== undefined) throw new DomainError('token-exists', token)
  return { changes: [{ name: 'token.issued', token, title, role, digest, expiresMicroseconds }] }
}

export function decideRevokeToken({ token }: RevokeToken, { state }: DecisionContext): Decision {
  if (state.token(token) === undefined) throw new DomainError('token-not-found', token)
  return { changes: [{ name: 'token.revoked', token }] }
}
