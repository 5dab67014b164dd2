import { signal } from '@preact/signals'
import { noteComeback } from './connection.ts'

export type Role = 'system-administrator' | 'storage-administrator' | 'auditor'

export interface Session {
  /** Value of the Authorization header. It is held in memory, and in the tab's own storage if that was asked for. */
  readonly authorization: string
  readonly role: Role
  readonly credentialId: string
  readonly expiresAt: string | null
}

/** Where a tab keeps its credential when the person asked for it; a new tab has none. */
const STORAGE_NAME = 'object-store-authorization'

/** Undefined when nobody is signed in. */
export const session = signal<Session | undefined>(undefined)
/** Whether the credential has ended while the console was in use: what is on the screen stays, and asks for another. */
export const isExpired = signal(false)

export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** RFC 7617, with the characters of both parts in UTF-8. */
export function basic(accessKey: string, secretKey: string): string {
  const bytes = new TextEncoder().encode(`${accessKey}:${secretKey}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

export function begin(started: Session, keep: boolean): void {
  session.value = started
  if (isExpired.value) {
    isExpired.value = false
    noteComeback()
  }
  if (keep) sessionStorage.setItem(STORAGE_NAME, started.authorization)
  else sessionStorage.removeItem(STORAGE_NAME)
}

/** Forgets everything about who is signed in. */
export function end(): void {
  sessionStorage.removeItem(STORAGE_NAME)
  session.value = undefined
  isExpired.value = false
}

/** What this tab has kept over a reload. */
export function kept(): string | undefined {
  return sessionStorage.getItem(STORAGE_NAME) ?? undefined
}

/** Whether who is signed in has one of these roles; menus and buttons that may not be used are not shown. */
export function may(roles: readonly Role[]): boolean {
  return session.value !== undefined && roles.includes(session.value.role)
}

export const EVERYONE: readonly Role[] = ['system-administrator', 'storage-administrator', 'auditor']
export const ADMINISTRATORS: readonly Role[] = ['system-administrator', 'storage-administrator']
