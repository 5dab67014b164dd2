import { signal } from '@preact/signals'
import { noteComeback } from './connection.ts'

export type Role = 'system-administrator' | 'storage-administrator' | 'auditor'

export interface Session {
  /** Value of the Authorization header, held in memory, and in the tab's storage if the user chose so. */
  readonly authorization: string
  readonly role: Role
  readonly credentialId: string
  /** Of the token; null for a credential of the configuration. */
  readonly name: string | null
  readonly expiresAt: string | null
}

/** Key of the credential in the tab's storage, which new tabs do not share. */
const STORAGE_NAME = 'object-store-authorization'

/** Undefined when no user is signed in. */
export const session = signal<Session | undefined>(undefined)
/** Whether the credential has ended during use: the screen stays, and a dialog asks for another. */
export const isExpired = signal(false)

export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** The Authorization header of RFC 7617, in UTF-8. */
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

/** Signs out and forgets the credential. */
export function end(): void {
  sessionStorage.removeItem(STORAGE_NAME)
  session.value = undefined
  isExpired.value = false
}

/** The credential that this tab has stored, to survive a reload. */
export function kept(): string | undefined {
  return sessionStorage.getItem(STORAGE_NAME) ?? undefined
}

/** Whether the user has one of these roles. Menus and buttons for other roles are not shown. */
export function may(roles: readonly Role[]): boolean {
  return session.value !== undefined && roles.includes(session.value.role)
}

export const EVERYONE: readonly Role[] = ['system-administrator', 'storage-administrator', 'auditor']
export const ADMINISTRATORS: readonly Role[] = ['system-administrator', 'storage-administrator']
