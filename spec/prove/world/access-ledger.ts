/** Which accounts, credentials and policies there are, by what the management plane was asked for and acknowledged. */
import type { ModelRequest } from '../../model/expectation.ts'
import { isAllowedBy, type NaiveStatement, needsOf } from './naive-policies.ts'
import type { WorldHost } from './world-host.ts'

export interface KnownAccount {
  readonly name: string
  enabled: boolean
  /** In the order in which they were attached. */
  readonly policies: Set<string>
}

export interface KnownCredential {
  readonly id: string
  readonly account: string
  readonly accessKey: string
  readonly secretKey: string
  /** Milliseconds since 1970. */
  readonly expires: number
  enabled: boolean
}

/** What a request that a credential signs must come to. */
export type Verdict = 'allowed' | 'AccessDenied' | 'InvalidAccessKeyId'

/** Credentials of an account (spec/manual/management/routes.md); above it the oldest that is of no use makes room. */
export const CREDENTIALS_MAXIMUM = 100

interface IssuedJson {
  readonly credential_id: string
  readonly access_key: string
  readonly secret_key: string
  readonly expires_at: string | null
}

const ledgers = new WeakMap<WorldHost, AccessLedger>()

/** The one of a host. */
export function accessOf(host: WorldHost): AccessLedger {
  const ledger = ledgers.get(host) ?? new AccessLedger()
  ledgers.set(host, ledger)
  return ledger
}

export class AccessLedger {
  readonly accounts = new Map<string, KnownAccount>()
  readonly policies = new Map<string, readonly NaiveStatement[]>()
  /** By access key, oldest first. */
  readonly credentials = new Map<string, KnownCredential>()
  /** Credentials that are gone. */
  readonly gone: KnownCredential[] = []

  /** Takes in a request of an administrator and its answer. @param now milliseconds since 1970 */
  saw(method: string, target: string, raw: string, answer: { status: number; json: unknown }, now: number): void {
    const { status, json } = answer
    if (status >= 300) return
    const [, kind = '', ...rest] = target.slice('/api'.length).split('/').slice(1).map(decodeURIComponent)
    if (kind === 'service-accounts') this.#accounts(method, rest, raw, json, now)
    if (kind === 'policies') this.#policies(method, rest, raw, json)
  }

  #accounts(
    method: string,
    [id = '', part, credential]: readonly string[],
    raw: string,
    json: unknown,
    now: number,
  ): void {
    if (method === 'GET') return
    if (id === '') {
      const { account, credential: issued } = json as { account: { id: string }; credential: IssuedJson }
      const { name } = JSON.parse(raw) as { name: string }
      this.accounts.set(account.id, { name, enabled: true, policies: new Set() })
      this.#issued(account.id, issued, now)
    } else if (part === undefined) {
      this.accounts.delete(id)
      for (const one of this.ofAccount(id)) this.#remove(one)
    } else if (part === 'status') {
      const account = this.accounts.get(id)
      if (account !== undefined) account.enabled = enabledIn(raw)
    } else if (credential === undefined) this.#issued(id, json as IssuedJson, now)
    else for (const one of this.ofAccount(id)) if (one.id === credential) one.enabled = enabledIn(raw)
  }

  #issued(account: string, issued: IssuedJson, now: number): void {
    const { credential_id: id, access_key: accessKey, secret_key: secretKey, expires_at: end } = issued
    const present = this.ofAccount(account)
    if (present.length >= CREDENTIALS_MAXIMUM) {
      const removed = present.find(({ expires }) => expires <= now) ?? present.find(({ enabled }) => !enabled)
      if (removed === undefined) throw new Error(`${account} has ${present.length} credentials of use, and got another`)
      this.#remove(removed)
    }
    const expires = end === null ? Number.POSITIVE_INFINITY : Date.parse(end)
    this.credentials.set(accessKey, { id, account, accessKey, secretKey, expires, enabled: true })
  }

  #remove(credential: KnownCredential): void {
    this.credentials.delete(credential.accessKey)
    this.gone.push(credential)
  }

  #policies(method: string, [id = '', part, account = '']: readonly string[], raw: string, json: unknown): void {
    if (method === 'GET') return
    if (part === 'bindings') {
      if (method === 'PUT') this.accounts.get(account)?.policies.add(id)
      else this.accounts.get(account)?.policies.delete(id)
    } else if (method === 'DELETE') this.policies.delete(id)
    else {
      const { statements } = JSON.parse(raw) as { statements: NaiveStatement[] }
      this.policies.set(method === 'POST' ? (json as { id: string }).id : id, statements)
    }
  }

  ofAccount(id: string): KnownCredential[] {
    return [...this.credentials.values()].filter(({ account }) => account === id)
  }

  isAttached(policy: string): boolean {
    return [...this.accounts.values()].some(({ policies }) => policies.has(policy))
  }

  /** @returns undefined for what is not judged as a whole */
  verdict({ accessKey }: KnownCredential, request: ModelRequest, now: number): Verdict | undefined {
    const credential = this.credentials.get(accessKey)
    const account = this.accounts.get(credential?.account ?? '')
    const isUsable = credential?.enabled === true && credential.expires > now && account?.enabled === true
    if (!isUsable) return 'InvalidAccessKeyId'
    const needs = needsOf(request)
    if (needs === undefined) return undefined
    const statements = [...account.policies].flatMap((policy) => this.policies.get(policy) ?? [])
    return isAllowedBy(statements, needs) ? 'allowed' : 'AccessDenied'
  }
}

function enabledIn(raw: string): boolean {
  return (JSON.parse(raw) as { enabled: boolean }).enabled
}
