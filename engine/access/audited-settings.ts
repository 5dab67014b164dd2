import { expiryText, listText, NONE, statusText, type SettingReaders } from '../records/setting-texts.ts'
import type { AccessCommands } from './commands.ts'
import type { AccessState } from './state.ts'

function policiesOf(account: string, access: AccessState): readonly string[] | undefined {
  return access.account(account)?.policies
}

/** What a change of access is, in its records. No secret is read. */
export const accessSettings: SettingReaders<AccessCommands, { readonly access: AccessState }> = {
  'set-account-status'({ account, enabled }, { access }) {
    const present = access.account(account)
    return [['account_status', present && statusText(present.enabled), statusText(enabled)]]
  },

  'delete-account'({ account }, { access }) {
    const present = access.account(account)
    return present === undefined
      ? []
      : [
          ['account_status', statusText(present.enabled), 'deleted'],
          ['policies', listText(present.policies), NONE],
          ['credentials', present.credentials.length, 0],
        ]
  },

  'issue-credential': ({ expiresMicroseconds }) => [['expires', undefined, expiryText(expiresMicroseconds)]],

  'set-credential-status'({ account, credential, enabled }, { access }) {
    const found = access.account(account)?.credentials.find((other) => other.credential === credential)
    const present = found && access.credential(found.accessKey)
    return [['credential_status', present && statusText(present.enabled), statusText(enabled)]]
  },

  'create-policy': ({ statements }) => [['statements', undefined, listText(statements)]],

  'replace-policy'({ policy, statements }, { access }) {
    const present = access.policy(policy)
    return [['statements', present && listText(present.statements), listText(statements)]]
  },

  'delete-policy'({ policy }, { access }) {
    const present = access.policy(policy)
    return present === undefined ? [] : [['statements', listText(present.statements), NONE]]
  },

  'attach-policy'({ policy, account }, { access }) {
    const present = policiesOf(account, access)
    if (present === undefined) return []
    const wanted = present.includes(policy) ? present : [...present, policy]
    return [['policies', listText(present), listText(wanted)]]
  },

  'detach-policy'({ policy, account }, { access }) {
    const present = policiesOf(account, access)
    if (present === undefined) return []
    return [['policies', listText(present), listText(present.filter((other) => other !== policy))]]
  },

  'set-bucket-policy'({ bucket, document }, { state, access }) {
    const present = state.bucket(bucket)
    const before = present && (access.bucketPolicy(present.id)?.document ?? NONE)
    return [['bucket_policy', before, document ?? NONE]]
  },

  'issue-token': ({ role, expiresMicroseconds }) => [
    ['role', undefined, role],
    ['expires', undefined, expiryText(expiresMicroseconds)],
  ],
}
