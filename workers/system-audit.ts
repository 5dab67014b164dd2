import type { AuditContext } from '../engine/events/audit.ts'

/** Who a background job is in the audit records of what it does. */
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
