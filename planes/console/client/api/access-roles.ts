import type { Role } from './session.ts'

/** Who sees service accounts and policies. */
export const SYSTEM_AND_AUDITOR: readonly Role[] = ['system-administrator', 'auditor']
/** Who changes them, and has to do with management tokens at all. */
export const ADMINISTRATOR: readonly Role[] = ['system-administrator']
