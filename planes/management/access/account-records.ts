import type { Microseconds, Milliseconds } from '../../../engine/brands.ts'
import type { AccountState, CredentialState } from '../../../engine/access/state.ts'
import { ManagementError } from '../errors.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

/** @throws ManagementError ACCOUNT_NOT_FOUND */
export function requireAccount(id: string, { access }: ManagementServices): AccountState {
  access.version()
  const account = access.account(id)
  if (account === undefined) throw new ManagementError('ACCOUNT_NOT_FOUND')
  return account
}

/** @throws ManagementError ACCOUNT_NOT_FOUND, CREDENTIAL_NOT_FOUND */
export function requireCredential(id: string, credential: string, services: ManagementServices): CredentialState {
  const { credentials } = requireAccount(id, services)
  const accessKey = credentials.find((one) => one.credential === credential)?.accessKey
  const found = accessKey === undefined ? undefined : services.access.credential(accessKey)
  if (found === undefined) throw new ManagementError('CREDENTIAL_NOT_FOUND')
  return found
}

/** The part of a credential that answers show: everything but its secret. */
type ShownCredential = Omit<CredentialState, 'sealedSecret' | 'account'>

/** `expired` takes precedence over `disabled`. */
function statusOf(enabled: boolean, expires: Microseconds | undefined, now: Milliseconds): string {
  if (expires !== undefined && expires <= now * 1000) return 'expired'
  return enabled ? 'enabled' : 'disabled'
}

/** @param lastUse undefined for a credential that was never used, such as a new one */
export function credentialRecord(
  shown: ShownCredential,
  now: Milliseconds,
  lastUse?: Microseconds,
): Record<string, unknown> {
  const { credential, accessKey, enabled, createdMicroseconds, expiresMicroseconds } = shown
  return {
    credential_id: credential,
    access_key: accessKey,
    enabled,
    status: statusOf(enabled, expiresMicroseconds, now),
    temporary: expiresMicroseconds !== undefined,
    created_at: rfc3339(createdMicroseconds),
    expires_at: rfc3339OrNull(expiresMicroseconds),
    last_used_at: rfc3339OrNull(lastUse),
  }
}

export function accountRecord(
  account: Omit<AccountState, 'credentials'>,
  credentials: readonly ShownCredential[],
  now: Milliseconds,
  lastUseOf: (credential: string) => Microseconds | undefined = () => undefined,
) {
  return {
    id: account.account,
    name: account.title,
    description: account.description,
    enabled: account.enabled,
    created_at: rfc3339(account.createdMicroseconds),
    credentials: credentials.map((each) => credentialRecord(each, now, lastUseOf(each.credential))),
    policies: account.policies,
  }
}

/** A stored account with its credentials. */
export function storedAccountRecord(account: AccountState, { access, expiryClock }: ManagementServices) {
  const credentials = account.credentials.flatMap(({ accessKey }) => access.credential(accessKey) ?? [])
  return accountRecord(account, credentials, expiryClock(), (credential) => access.lastUse(credential))
}
