import { Packr } from 'msgpackr'
import type { AccountState, CredentialState, PolicyState, TokenState } from '../../engine/access-state.ts'
import { MANAGEMENT_ROLES } from '../../engine/events/access-changes.ts'
import { decodeStatements, encodeStatements, type StoredStatement } from '../../engine/events/access-codec.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `accounts`: id -> MessagePack [title, description, enabled, created, [[credential, access key], ...], [policy, ...]]
 * `credentials`: access key -> MessagePack [credential, account, sealed secret, enabled, created, expires or null]
 * `policies`: id -> MessagePack [title, created, statements]
 * `tokens`: id -> MessagePack [title, role, SHA-256, created, expires or null]
 * `token-digests`: SHA-256 of a token (32) -> its id
 * `access-version`: one row, sequence (8) of the last entry that changed any of them
 *
 * Keys and ids are UTF-8. Times are microseconds since 1970.
 */
export const ACCOUNTS = 'accounts'
export const CREDENTIALS = 'credentials'
export const POLICIES = 'policies'
export const TOKENS = 'tokens'
export const TOKEN_DIGESTS = 'token-digests'
export const ACCESS_VERSION = 'access-version'

const packr = new Packr({ useRecords: false, copyBuffers: true, int64AsType: 'number' })
/** No id or access key is longer, and LMDB fails on keys beyond a few KiB: strangers may ask for anything. */
const KEY_BYTES_MAXIMUM = 255

function keyOf(id: string): Buffer | undefined {
  const key = Buffer.from(id)
  return key.length === 0 || key.length > KEY_BYTES_MAXIMUM ? undefined : key
}

function read<S>(table: TableReader, id: string): S | undefined {
  const key = keyOf(id)
  const value = key && table.get(key)
  return value === undefined ? undefined : (packr.unpack(value) as S)
}

type StoredAccount = [
  title: string,
  description: string,
  enabled: boolean,
  created: number,
  credentials: [credential: string, accessKey: string][],
  policies: string[],
]

function accountOf(account: string, stored: StoredAccount): AccountState {
  const [title, description, enabled, createdMicroseconds, credentials, policies] = stored
  const pairs = credentials.map(([credential, accessKey]) => ({ credential, accessKey }))
  return { account, title, description, enabled, createdMicroseconds, credentials: pairs, policies }
}

export function getAccount(table: TableReader, account: string): AccountState | undefined {
  const stored = read<StoredAccount>(table, account)
  return stored && accountOf(account, stored)
}

/** All service accounts by id. */
export function allAccounts(table: TableReader): AccountState[] {
  return Array.from(table.rows({}), ({ key, value }) => accountOf(key.toString(), packr.unpack(value)))
}

export function putAccount(table: Table, account: AccountState): void {
  const { title, description, enabled, createdMicroseconds, credentials, policies } = account
  const pairs = credentials.map(({ credential, accessKey }) => [credential, accessKey] as [string, string])
  const stored: StoredAccount = [title, description, enabled, createdMicroseconds, pairs, [...policies]]
  table.put(Buffer.from(account.account), packr.pack(stored))
}

type StoredCredential = [
  credential: string,
  account: string,
  sealedSecret: Uint8Array,
  enabled: boolean,
  created: number,
  expires: number | null,
]

export function getCredential(table: TableReader, accessKey: string): CredentialState | undefined {
  const stored = read<StoredCredential>(table, accessKey)
  if (stored === undefined) return undefined
  const [credential, account, sealedSecret, enabled, createdMicroseconds, expires] = stored
  const expiresMicroseconds = expires ?? undefined
  return { credential, accessKey, account, sealedSecret, enabled, createdMicroseconds, expiresMicroseconds }
}

export function putCredential(table: Table, credential: CredentialState): void {
  const stored: StoredCredential = [
    credential.credential,
    credential.account,
    credential.sealedSecret,
    credential.enabled,
    credential.createdMicroseconds,
    credential.expiresMicroseconds ?? null,
  ]
  table.put(Buffer.from(credential.accessKey), packr.pack(stored))
}

type StoredPolicy = [title: string, created: number, statements: StoredStatement[]]

function policyOf(policy: string, [title, createdMicroseconds, statements]: StoredPolicy): PolicyState {
  return { policy, title, createdMicroseconds, statements: decodeStatements(statements) }
}

export function getPolicy(table: TableReader, policy: string): PolicyState | undefined {
  const stored = read<StoredPolicy>(table, policy)
  return stored && policyOf(policy, stored)
}

/** All policies by id. */
export function allPolicies(table: TableReader): PolicyState[] {
  return Array.from(table.rows({}), ({ key, value }) => policyOf(key.toString(), packr.unpack(value)))
}

export function putPolicy(table: Table, { policy, title, createdMicroseconds, statements }: PolicyState): void {
  const stored: StoredPolicy = [title, createdMicroseconds, encodeStatements(statements)]
  table.put(Buffer.from(policy), packr.pack(stored))
}

type StoredToken = [title: string, role: number, digest: Uint8Array, created: number, expires: number | null]

function tokenOf(token: string, [title, role, digest, createdMicroseconds, expires]: StoredToken): TokenState {
  const name = MANAGEMENT_ROLES[role]
  if (name === undefined) throw new Error(`token ${token} has the unknown role ${role}`)
  return { token, title, role: name, digest, createdMicroseconds, expiresMicroseconds: expires ?? undefined }
}

export function getToken(table: TableReader, token: string): TokenState | undefined {
  const stored = read<StoredToken>(table, token)
  return stored && tokenOf(token, stored)
}

/** All management tokens by id. */
export function allTokens(table: TableReader): TokenState[] {
  return Array.from(table.rows({}), ({ key, value }) => tokenOf(key.toString(), packr.unpack(value)))
}

export function putToken(tokens: Table, digests: Table, token: TokenState): void {
  const { title, role, digest, createdMicroseconds, expiresMicroseconds } = token
  const expires = expiresMicroseconds ?? null
  const stored: StoredToken = [title, MANAGEMENT_ROLES.indexOf(role), digest, createdMicroseconds, expires]
  tokens.put(Buffer.from(token.token), packr.pack(stored))
  digests.put(Buffer.from(digest), Buffer.from(token.token))
}

const VERSION_KEY = Buffer.from('version')

/** Sequence of the last entry that changed who may do what; 0 when none did. */
export function getAccessVersion(table: TableReader): number {
  const value = table.get(VERSION_KEY)
  return value === undefined ? 0 : readNumber(value, 0)
}

export function putAccessVersion(table: Table, sequence: number): void {
  table.put(VERSION_KEY, numberKey(sequence))
}
