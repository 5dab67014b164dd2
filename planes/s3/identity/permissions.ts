import { type CompiledPolicies, isAllowed } from '../../../engine/access/policy.ts'

/** Something that a request does, to something. */
export interface Permission {
  readonly action: string
  readonly resource: string
  /** Another action that grants the same. */
  readonly coveredBy?: string | undefined
}

export const GET_OBJECT = 's3:GetObject'
export const BYPASS = 's3:BypassGovernanceRetention'

/** Whether policies allow all of it; undefined ones are those of root, which may do everything. */
export function areAllowed(policies: CompiledPolicies | undefined, permissions: readonly Permission[]): boolean {
  if (policies === undefined) return true
  return permissions.every(({ action, resource, coveredBy }) => isAllowed(policies, action, resource, coveredBy))
}
