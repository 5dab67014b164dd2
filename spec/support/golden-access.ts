/** Who may do what in golden journal 2: the commands, and what they must lead to, worked out beside them. */
import type { Command, Done } from '../../engine/commands.ts'
import { type ManagementRole, MANAGEMENT_ROLES, type PolicyStatement } from '../../engine/events/access-changes.ts'
import type { AccessReader } from '../../projections/access-reader.ts'
import * as access from './access-commands.ts'
import { digestOf } from './commands.ts'
import { GOLDEN_TIME } from './golden-history.ts'
import { plain } from './golden-state.ts'

const YEAR_MICROSECONDS = 365 * 24 * 60 * 60 * 1_000_000
const LATER = GOLDEN_TIME + 10 * YEAR_MICROSECONDS
const STATEMENTS: readonly PolicyStatement[] = [
  { effect: 'allow', actions: ['s3:Get*', 's3:ListBucket'], resources: ['bucket:*'] },
  { effect: 'deny', actions: ['s3:*'], resources: ['bucket:plain/secret/*', 'bucket:grüße'] },
]

export interface GoldenAccess {
  readonly accounts: unknown
  readonly credentials: unknown
  readonly policies: unknown
  readonly tokens: unknown
}

/** Carries the commands out and returns what must be there after them. */
export async function liveAccess(execute: (command: Command) => Promise<Done>): Promise<GoldenAccess> {
  const commands: readonly Command[] = [
    access.createAccount('keeper'),
    access.createAccount('gone'),
    access.issueCredential('gone', 'of the account that goes', LATER),
    access.deleteAccount('gone'),
    access.setAccountStatus('keeper', false),
    access.setAccountStatus('keeper', true),
    access.createAccount('off'),
    access.setAccountStatus('off', false),
    access.issueCredential('keeper', 'expired', GOLDEN_TIME),
    access.issueCredential('keeper', 'lasting', LATER),
    access.issueCredential('keeper', 'disabled'),
    access.setCredentialStatus('keeper', 'disabled', false),
    access.setCredentialStatus('keeper', 'lasting', false),
    access.setCredentialStatus('keeper', 'lasting', true),
    access.createPolicy('reading', ...STATEMENTS),
    access.createPolicy('nothing'),
    access.attachPolicy('nothing', 'keeper'),
    access.attachPolicy('reading', 'keeper'),
    access.attachPolicy('reading', 'off'),
    access.detachPolicy('nothing', 'keeper'),
    ...MANAGEMENT_ROLES.map((role) => access.issueToken(`of the ${role}`, role)),
    access.issueToken('expiring', 'auditor', LATER),
    access.issueToken('revoked', 'auditor'),
    access.revokeToken('revoked'),
  ]
  for (const command of commands) await execute(command)
  return plain({
    accounts: [
      account('keeper', true, ['first of keeper', 'lasting', 'disabled'], ['reading']),
      account('off', false, ['first of off'], ['reading']),
    ],
    credentials: [
      credential('keeper', 'first of keeper', true),
      credential('keeper', 'lasting', true, LATER),
      credential('keeper', 'disabled', false),
      credential('off', 'first of off', true),
    ],
    policies: [
      { policy: 'nothing', title: 'title of nothing', statements: [] },
      { policy: 'reading', title: 'title of reading', statements: STATEMENTS },
    ],
    tokens: [
      token('expiring', 'auditor', LATER),
      ...MANAGEMENT_ROLES.map((role) => token(`of the ${role}`, role)).toSorted((left, right) =>
        left.token < right.token ? -1 : 1,
      ),
    ],
  }) as GoldenAccess
}

function accessKeyOf(credentialId: string): string {
  return credentialId.startsWith('first of ') ? `${credentialId.slice('first of '.length)}-KEY` : `${credentialId}-KEY`
}

function account(id: string, enabled: boolean, credentials: readonly string[], policies: readonly string[]) {
  const keys = credentials.map((one) => ({ credential: one, accessKey: accessKeyOf(one) }))
  return { account: id, title: `title of ${id}`, description: '', enabled, credentials: keys, policies }
}

function credential(owner: string, id: string, enabled: boolean, expiresMicroseconds?: number) {
  const sealedSecret = Buffer.from(`secret of ${id.startsWith('first of ') ? owner : id}`)
  return { credential: id, accessKey: accessKeyOf(id), account: owner, sealedSecret, enabled, expiresMicroseconds }
}

function token(id: string, role: ManagementRole, expiresMicroseconds?: number) {
  return { token: id, title: `title of ${id}`, role, digest: digestOf(Buffer.from(id)), expiresMicroseconds }
}

/** The same of a store. */
export function goldenOfAccess(reader: AccessReader): GoldenAccess {
  const accounts = reader.accounts()
  const keys = accounts.flatMap(({ credentials }) => credentials.map(({ accessKey }) => accessKey))
  const credentials = keys.map((key) => reader.credential(key))
  return plain({ accounts, credentials, policies: reader.policies(), tokens: reader.tokens() }) as GoldenAccess
}
