import { type CompiledPolicies, isAllowed } from '../../../engine/access/policy.ts'

/** An action of a request on a resource. */
export interface Permission {
  readonly action: string
  readonly resource: string
  /** Another action that grants the same. */
  readonly coveredBy?: string | undefined
}

export const GET_OBJECT = 's3:GetObject'
export const BYPASS = 's3:BypassGovernanceRetention'

/** Whether the policies allow every permission. Undefined policies mean root, which may do everything. */
export function areAllowed(policies: CompiledPolicies | undefined, permissions: readonly Permission[]): boolean {
  if (policies === undefined) return true
  return permissions.every(({ action, resource, coveredBy }) => isAllowed(policies, action, resource, coveredBy))
}
