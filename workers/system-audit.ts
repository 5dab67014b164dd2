import type { AuditContext } from '../engine/events/audit.ts'

/** The audit context of the server's own actions. */
export function systemAudit(component: string, operation: string, resource: string): AuditContext {
  return {
    principal: `system:${component}`,
    credentialId: undefined,
    sourceAddress: undefined,
    requestId: undefined,
    operation,
    resource,
    metadata: [],
  }
}
