import type { Answer } from '../../api/call.ts'

export type Account = Answer<'GET /service-accounts/{id}'>
export type Credential = Account['credentials'][number]
export type Policy = Answer<'GET /policies/{policy_id}'>
export type Statement = Policy['statements'][number]
export type Token = Answer<'GET /management-tokens'>['management_tokens'][number]

/** One account, and the callback for changes of it. */
export interface AccountPart {
  readonly account: Account
  readonly changed: () => void
}

/** Entries of one page of a list. */
export const PAGE_ENTRIES = 500
