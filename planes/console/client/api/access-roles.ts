import type { Role } from './session.ts'

/** Roles that see service accounts and policies. */
export const SYSTEM_AND_AUDITOR: readonly Role[] = ['system-administrator', 'auditor']
/** Role that changes them, and that alone sees and changes management tokens. */
export const ADMINISTRATOR: readonly Role[] = ['system-administrator']
