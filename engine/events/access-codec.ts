import { type AccessChange, MANAGEMENT_ROLES, type PolicyStatement } from './access-changes.ts'
import type { ChangeCodec } from './change-codec.ts'

type AccessName = AccessChange['name']

/** `[denies, actions, resources]`. */
export type StoredStatement = readonly [denies: boolean, actions: readonly string[], resources: readonly string[]]

export function encodeStatements(statements: readonly PolicyStatement[]): StoredStatement[] {
  return statements.map(({ effect, actions, resources }) => [effect === 'deny', actions, resources])
}

export function decodeStatements(stored: readonly StoredStatement[]): PolicyStatement[] {
  return stored.map(([denies, actions, resources]) => ({ effect: denies ? 'deny' : 'allow', actions, resources }))
}

function roleOf(stored: number): (typeof MANAGEMENT_ROLES)[number] {
  const role = MANAGEMENT_ROLES[stored]
  if (role === undefined) throw new Error(`unknown role ${stored}`)
  return role
}

/** One row per change of access. */
export const ACCESS_CODECS: { readonly [N in AccessName]: ChangeCodec<Extract<AccessChange, { name: N }>> } = {
  'account.created': {
    fields: ({ account, title, description }) => [account, title, description],
    change: ([account, title, description]) => ({
      name: 'account.created',
      account: account as never,
      title: title as never,
      description: description as never,
    }),
  },
  'account.status-set': {
    fields: ({ account, enabled }) => [account, enabled],
    change: ([account, enabled]) => ({
      name: 'account.status-set',
      account: account as never,
      enabled: enabled as never,
    }),
  },
  'account.deleted': {
    fields: ({ account }) => [account],
    change: ([account]) => ({ name: 'account.deleted', account: account as never }),
  },
  'credential.issued': {
    fields: ({ account, credential, accessKey, sealedSecret, expiresMicroseconds }) => [
      account,
      credential,
      accessKey,
      sealedSecret,
      expiresMicroseconds ?? null,
    ],
    change: ([account, credential, accessKey, sealedSecret, expires]) => ({
      name: 'credential.issued',
      account: account as never,
      credential: credential as never,
      accessKey: accessKey as never,
      sealedSecret: sealedSecret as never,
      expiresMicroseconds: expires ?? undefined,
    }),
  },
  'credential.status-set': {
    fields: ({ accessKey, enabled }) => [accessKey, enabled],
    change: ([accessKey, enabled]) => ({
      name: 'credential.status-set',
      accessKey: accessKey as never,
      enabled: enabled as never,
    }),
  },
  'credential.removed': {
    fields: ({ accessKey }) => [accessKey],
    change: ([accessKey]) => ({ name: 'credential.removed', accessKey: accessKey as never }),
  },
  'policy.created': {
    fields: ({ policy, title, statements }) => [policy, title, encodeStatements(statements)],
    change: ([policy, title, statements]) => ({
      name: 'policy.created',
      policy: policy as never,
      title: title as never,
      statements: decodeStatements(statements as never),
    }),
  },
  'policy.attached': {
    fields: ({ policy, account }) => [policy, account],
    change: ([policy, account]) => ({ name: 'policy.attached', policy: policy as never, account: account as never }),
  },
  'policy.detached': {
    fields: ({ policy, account }) => [policy, account],
    change: ([policy, account]) => ({ name: 'policy.detached', policy: policy as never, account: account as never }),
  },
  'token.issued': {
    fields: ({ token, title, role, digest, expiresMicroseconds }) => [
      token,
      title,
      MANAGEMENT_ROLES.indexOf(role),
      digest,
      expiresMicroseconds ?? null,
    ],
    change: ([token, title, role, digest, expires]) => ({
      name: 'token.issued',
      token: token as never,
      title: title as never,
      role: roleOf(role as never),
      digest: digest as never,
      expiresMicroseconds: expires ?? undefined,
    }),
  },
  'token.revoked': {
    fields: ({ token }) => [token],
    change: ([token]) => ({ name: 'token.revoked', token: token as never }),
  },
}
