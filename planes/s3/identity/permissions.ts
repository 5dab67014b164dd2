import { type CompiledPolicies, decidingStatement, listsKeysFrom } from '../../../engine/access/policy.ts'

/** An action of a request on a resource. */
export interface Permission {
  readonly action: string
  readonly resource: string
  /** Another action that grants the same. */
  readonly coveredBy?: string | undefined
  /** What the keys of a listing begin with: a resource with a wildcard that covers them all grants the same. */
  readonly keysFrom?: string | undefined
}

export const GET_OBJECT = 's3:GetObject'
export const BYPASS = 's3:BypassGovernanceRetention'

/** Whether the policies allow every permission. Undefined policies mean root, which may do everything. */
export function areAllowed(policies: CompiledPolicies | undefined, permissions: readonly Permission[]): boolean {
  if (policies === undefined) return true
  return permissions.every((permission) => isPermitted(policies, permission))
}

function isPermitted(policies: CompiledPolicies, { action, resource, coveredBy, keysFrom }: Permission): boolean {
  const decided = decidingStatement(policies, action, resource, coveredBy)
  if (decided !== undefined || keysFrom === undefined) return decided?.denies === false
  return listsKeysFrom(policies, action, keysFrom)
}
