import type { Milliseconds } from '../brands.ts'
import type { AccessState, AccountState, CredentialState } from './state.ts'
import { DomainError } from '../errors.ts'
import { requireBucket } from '../domain/bucket.ts'
import type { ChangeNamed } from '../events/schema/change.ts'
import type { PolicyStatement } from '../events/values.ts'
import { NOTHING_CHANGES, type RulesOf } from '../domain/decision.ts'
import type { AccessChange } from './change-types.ts'
import type { AccessCommands } from './commands.ts'

/** Bounds of one service account: each of its requests reads all of them. */
const CREDENTIALS_MAXIMUM = 100
const POLICIES_MAXIMUM = 100

/** The same text for the same statements. */
function documentOf(statements: readonly PolicyStatement[]): string {
  return JSON.stringify(statements.map(({ effect, actions, resources }) => [effect, actions, resources]))
}

function requireAccount(access: AccessState, account: string): AccountState {
  const found = access.account(account)
  if (found === undefined) throw new DomainError('account-not-found', account)
  return found
}

/** Only in an account at its maximum: the oldest that has expired, or else the oldest that is disabled. */
function credentialsToRemove(
  present: readonly CredentialState[],
  now: Milliseconds,
  account: string,
): ChangeNamed<AccessChange, 'credential.removed'>[] {
  if (present.length < CREDENTIALS_MAXIMUM) return []
  const hasExpired = ({ expiresMicroseconds: expires }: CredentialState) =>
    expires !== undefined && expires <= now * 1000
  const removed = present.find(hasExpired) ?? present.find(({ enabled }) => !enabled)
  if (removed === undefined) throw new DomainError('too-many-credentials', account)
  return [{ name: 'credential.removed', accessKey: removed.accessKey }]
}

export const accessRules: RulesOf<AccessCommands, AccessChange, { readonly access: AccessState }> = {
  'create-account'(command, { access }) {
    const { account, title, description, credential, accessKey, sealedSecret } = command
    if (access.account(account) !== undefined) throw new DomainError('account-exists', account)
    if (access.titleIsTaken(title)) throw new DomainError('account-name-taken', title)
    if (access.credential(accessKey) !== undefined) throw new DomainError('access-key-taken', accessKey)
    return {
      changes: [
        { name: 'account.created', account, title, description },
        { name: 'credential.issued', account, credential, accessKey, sealedSecret, expiresMicroseconds: undefined },
      ],
    }
  },

  'set-account-status'({ account, enabled }, { access }) {
    if (requireAccount(access, account).enabled === enabled) return NOTHING_CHANGES
    return { changes: [{ name: 'account.status-set', account, enabled }] }
  },

  'delete-account'({ account }, { access }) {
    requireAccount(access, account)
    return { changes: [{ name: 'account.deleted', account }] }
  },

  /**
   * The old credentials keep working, and expired ones stay listed. In an account at its maximum an expired credential
   * makes room, or else the oldest disabled one.
   */
  'issue-credential'(command, { access, now }) {
    const { account, credential, accessKey, sealedSecret, expiresMicroseconds } = command
    const present = requireAccount(access, account).credentials.flatMap(
      (other) => access.credential(other.accessKey) ?? [],
    )
    const isTaken =
      access.credential(accessKey) !== undefined || present.some((other) => other.credential === credential)
    if (isTaken) throw new DomainError('credential-exists', credential)
    return {
      changes: [
        ...credentialsToRemove(present, now, account),
        { name: 'credential.issued', account, credential, accessKey, sealedSecret, expiresMicroseconds },
      ],
    }
  },

  'set-credential-status'(command, { access }) {
    const { account, credential, enabled } = command
    const found = requireAccount(access, account).credentials.find((other) => other.credential === credential)
    const present = found && access.credential(found.accessKey)
    if (present === undefined) throw new DomainError('credential-not-found', credential)
    if (present.enabled === enabled) return NOTHING_CHANGES
    return { changes: [{ name: 'credential.status-set', accessKey: present.accessKey, enabled }] }
  },

  'create-policy'({ policy, title, statements }, { access }) {
    if (access.policy(policy) !== undefined) throw new DomainError('policy-exists', policy)
    return { changes: [{ name: 'policy.created', policy, title, statements }] }
  },

  /** The same statements under the same name are a success that changes nothing. */
  'replace-policy'({ policy, title, statements }, { access }) {
    const present = access.policy(policy)
    if (present === undefined) throw new DomainError('policy-not-found', policy)
    const isSame = present.title === title && documentOf(present.statements) === documentOf(statements)
    return isSame ? NOTHING_CHANGES : { changes: [{ name: 'policy.replaced', policy, title, statements }] }
  },

  'delete-policy'({ policy }, { access }) {
    if (access.policy(policy) === undefined) throw new DomainError('policy-not-found', policy)
    if (access.policyIsAttached(policy)) throw new DomainError('policy-attached', policy)
    return { changes: [{ name: 'policy.deleted', policy }] }
  },

  /** Attaching again is a success that changes nothing. */
  'attach-policy'({ policy, account }, { access }) {
    if (access.policy(policy) === undefined) throw new DomainError('policy-not-found', policy)
    const { policies } = requireAccount(access, account)
    if (policies.includes(policy)) return NOTHING_CHANGES
    if (policies.length >= POLICIES_MAXIMUM) throw new DomainError('too-many-policies', account)
    return { changes: [{ name: 'policy.attached', policy, account }] }
  },

  'detach-policy'({ policy, account }, { access }) {
    if (access.policy(policy) === undefined) throw new DomainError('policy-not-found', policy)
    if (!requireAccount(access, account).policies.includes(policy)) throw new DomainError('policy-not-attached', policy)
    return { changes: [{ name: 'policy.detached', policy, account }] }
  },

  /** An account that was deleted since the document was translated is refused. The same document again changes nothing. */
  'set-bucket-policy'({ bucket: name, document, accounts }, { state, access }) {
    const { id: bucketId, name: bucket } = requireBucket(state, name)
    for (const account of accounts) requireAccount(access, account)
    const present = access.bucketPolicy(bucketId)
    if (present?.document === document && String(present?.accounts ?? []) === String(accounts)) return NOTHING_CHANGES
    return { changes: [{ name: 'bucket-policy.set', bucketId, bucket, document, accounts }] }
  },

  'issue-token'(command, { access }) {
    const { token, title, role, digest, expiresMicroseconds } = command
    if (access.token(token) !== undefined) throw new DomainError('token-exists', token)
    return { changes: [{ name: 'token.issued', token, title, role, digest, expiresMicroseconds }] }
  },

  'revoke-token'({ token }, { access }) {
    if (access.token(token) === undefined) throw new DomainError('token-not-found', token)
    return { changes: [{ name: 'token.revoked', token }] }
  },
}
