import { hash } from 'node:crypto'
import { comparedTitle } from '../../engine/access/account-title.ts'
import { type BucketId, type Microseconds, microsecondsOf, type Sequence } from '../../engine/brands.ts'
import { type CredentialUse, isSameMinute } from '../../engine/journal/credential-uses.ts'
import type {
  AccountState,
  BucketPolicyState,
  CredentialState,
  PolicyState,
  TokenState,
} from '../../engine/access/state.ts'
import { bytes, flag, listOf, microseconds, optional, text, wordOf } from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import { bucketPolicyText } from '../../engine/events/names.ts'
import { MANAGEMENT_ROLES, policyStatements } from '../../engine/events/values.ts'
import { NO_ACCESS_CODE } from '../../engine/access/access-authentication.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { idRows, packed } from '../tables/row-codecs.ts'

/** The names of its tables. */
export const accessTables = {
  accounts: 'accounts',
  accountTitles: 'account-titles',
  credentials: 'credentials',
  policies: 'policies',
  bucketPolicies: 'bucket-policies',
  tokens: 'tokens',
  tokenDigests: 'token-digests',
  deletedNames: 'deleted-names',
  deletedCredentials: 'deleted-credentials',
  deletedTokens: 'deleted-tokens',
  lastUses: 'last-uses',
  accessVersion: 'access-version',
  accessEnds: 'access-ends',
} as const

const createdMicroseconds = field(microseconds, 'created')
const expiresMicroseconds = field(optional(microseconds), 'expiry')
const enabled = field(flag, 'enabled')
const title = field(text, 'name')
const credential = field(text, 'credential id')
const accessKey = field(text, 'access key')

/** `accounts`: by account id. */
export const accountRows = idRows<'account', AccountState>(
  'account',
  record('account', {
    title,
    description: field(text, 'description'),
    enabled,
    createdMicroseconds,
    credentials: field(listOf(record('credential', { credential, accessKey })), 'credentials'),
    policies: field(listOf(text), 'policies'),
  }),
)

/**
 * `account-titles`: SHA-256 of the title as it is compared (32) | account id -> nothing. Stores from before titles were
 * compared may have several accounts of one title.
 */
const TITLE_DIGEST_BYTES = 32
const NO_VALUE = Buffer.alloc(1)

function titleKey(name: string, account = ''): Buffer {
  return Buffer.concat([hash('sha256', comparedTitle(name), 'buffer'), Buffer.from(account)])
}

export function putTitle(table: Table, state: Pick<AccountState, 'title' | 'account'>): void {
  table.put(titleKey(state.title, state.account), NO_VALUE)
}

export function removeTitle(table: Table, state: Pick<AccountState, 'title' | 'account'>): void {
  table.remove(titleKey(state.title, state.account))
}

/** Ids of the accounts whose titles compare the same as this one. */
export function accountsTitled(table: TableReader, name: string): string[] {
  const wanted = titleKey(name)
  const found: string[] = []
  for (const key of table.keys({ start: wanted })) {
    if (!key.subarray(0, TITLE_DIGEST_BYTES).equals(wanted)) break
    found.push(key.subarray(TITLE_DIGEST_BYTES).toString())
  }
  return found
}

export function titleIsTaken(table: TableReader, name: string): boolean {
  const wanted = titleKey(name)
  const [found] = table.keys({ start: wanted, limit: 1 })
  return found?.subarray(0, TITLE_DIGEST_BYTES).equals(wanted) === true
}

/** `credentials`: by access key. */
export const credentialRows = idRows<'accessKey', CredentialState>(
  'accessKey',
  record('credential', {
    credential,
    account: field(text, 'account id'),
    sealedSecret: field(bytes, 'sealed secret'),
    enabled,
    createdMicroseconds,
    expiresMicroseconds,
  }),
)

/** `policies`: by policy id. */
export const policyRows = idRows<'policy', PolicyState>(
  'policy',
  record('policy', { title, createdMicroseconds, statements: field(policyStatements, 'statements') }),
)

/** `bucket-policies`: bucket id (8) -> MessagePack [document, accounts] as in the journal; no row without a policy. */
const bucketPolicyRows = packed(
  record('bucket policy', {
    document: field(bucketPolicyText, 'policy'),
    accounts: field(listOf(text), 'account ids'),
  }),
)

export function getBucketPolicy(table: TableReader, bucketId: BucketId): BucketPolicyState | undefined {
  const value = table.get(numberKey(bucketId))
  return value === undefined ? undefined : bucketPolicyRows.decode(value)
}

export function putBucketPolicy(
  table: Table,
  bucketId: BucketId,
  { document, accounts }: { readonly document: string | undefined; readonly accounts: readonly string[] },
): void {
  if (document === undefined) table.remove(numberKey(bucketId))
  else table.put(numberKey(bucketId), bucketPolicyRows.encode({ document, accounts }))
}

/** `tokens`: by token id. `token-digests`: SHA-256 of a token (32) -> its id. */
export const tokenRows = idRows<'token', TokenState>(
  'token',
  record('token', {
    title,
    role: field(wordOf(MANAGEMENT_ROLES), 'role'),
    digest: field(bytes, 'SHA-256'),
    createdMicroseconds,
    expiresMicroseconds,
  }),
)

/**
 * What the audit log says of accounts, credentials and tokens that are deleted. They grant nothing, so no seal covers
 * them; each row is smaller than the entry of its deletion.
 */

/** `deleted-names`: by the id of an account or token, its last name. */
export const deletedNameRows = idRows<'id', { readonly id: string; readonly title: string }>(
  'id',
  record('name', { title }),
)

/** `deleted-credentials`: by access key. */
export interface DeletedCredential {
  readonly accessKey: string
  readonly credential: string
  readonly account: string
}

export const deletedCredentialRows = idRows<'accessKey', DeletedCredential>(
  'accessKey',
  record('credential', { credential, account: field(text, 'account id') }),
)

/** `deleted-tokens`: SHA-256 of a token (32) -> its id. */
export function putDeletedToken(table: Table, { token, digest }: Pick<TokenState, 'token' | 'digest'>): void {
  table.put(Buffer.from(digest), Buffer.from(token))
}

/**
 * `last-uses`: credential or token id -> the time of a request by it (8), at most a minute before the last one. It says
 * nothing of what a credential may do, so no seal covers it.
 */
export function getLastUse(table: TableReader, id: string): Microseconds | undefined {
  const value = table.get(Buffer.from(id))
  return value === undefined ? undefined : microsecondsOf(readNumber(value, 0))
}

/** One row for each minute in which the credential is used. */
export function putLastUse(table: Table, { credentialId, timeMicroseconds }: CredentialUse): void {
  const before = getLastUse(table, credentialId)
  if (before !== undefined && isSameMinute(before, timeMicroseconds)) return
  table.put(Buffer.from(credentialId), numberKey(timeMicroseconds))
}

/** `access-version`: one row, the sequence (8) of the last entry that changed any of them. */
const VERSION_KEY = Buffer.from('version')

/** 0 when no entry did. */
export function getAccessVersion(table: TableReader): number {
  const value = table.get(VERSION_KEY)
  return value === undefined ? 0 : readNumber(value, 0)
}

export function putAccessVersion(table: Table, sequence: Sequence): void {
  table.put(VERSION_KEY, numberKey(sequence))
}

/** In the same table, one row: the code of the last change of access (32 bytes); zeros before the first one. */
const CODE_KEY = Buffer.from('code')

export function getAccessCode(table: TableReader): Uint8Array {
  const value = table.get(CODE_KEY)
  return value === undefined ? NO_ACCESS_CODE : Uint8Array.from(value)
}

export function putAccessCode(table: Table, code: Uint8Array): void {
  table.put(CODE_KEY, Buffer.from(code))
}
