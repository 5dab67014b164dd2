import {
  type CompiledPolicies,
  decidingStatement,
  joinedPolicies,
  listsKeysFrom,
} from '../../../engine/access/policy.ts'
import type { Identity } from '../signing/identity.ts'

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

/** Whom a request is judged as. Undefined policies mean root, which is held against no policy. */
export type Caller = Pick<Identity, 'principal' | 'policies'>

/** The policies of buckets, as they are now. */
export interface PoliciesOfBuckets {
  /** What the policy of a bucket says of a principal; undefined for a bucket without a policy, or that does not exist. */
  of(bucket: string, principal: string): CompiledPolicies | undefined
}

/**
 * Whether the policies of the caller and of the buckets allow every permission: a denial of either wins, and an allow of
 * either is enough. Without a caller nothing is allowed.
 */
export function areAllowed(
  caller: Caller | undefined,
  permissions: readonly Permission[],
  buckets: PoliciesOfBuckets,
): boolean {
  if (caller === undefined) return false
  const { policies, principal } = caller
  if (policies === undefined) return true
  return permissions.every((permission) => {
    const name = bucketOf(permission.resource)
    const ofBucket = name === undefined ? undefined : buckets.of(name, principal)
    return isPermitted(ofBucket === undefined ? policies : joined(policies, ofBucket), permission)
  })
}

const RESOURCE_START = 'bucket:'

/** The bucket of a resource; undefined for the service as a whole. */
function bucketOf(resource: string): string | undefined {
  const end = resource.indexOf('/')
  const name = resource.slice(RESOURCE_START.length, end === -1 ? undefined : end)
  return name === '*' ? undefined : name
}

/** By the policies of a bucket, then of an account. Both are values that front ends keep until they change. */
const JOINED = new WeakMap<CompiledPolicies, WeakMap<CompiledPolicies, CompiledPolicies>>()

function joined(own: CompiledPolicies, ofBucket: CompiledPolicies): CompiledPolicies {
  let known = JOINED.get(ofBucket)
  if (known === undefined) {
    known = new WeakMap()
    JOINED.set(ofBucket, known)
  }
  let both = known.get(own)
  if (both === undefined) {
    both = joinedPolicies(own, ofBucket)
    known.set(own, both)
  }
  return both
}

function isPermitted(policies: CompiledPolicies, { action, resource, coveredBy, keysFrom }: Permission): boolean {
  const decided = decidingStatement(policies, action, resource, coveredBy)
  if (decided !== undefined || keysFrom === undefined) return decided?.denies === false
  return listsKeysFrom(policies, action, keysFrom)
}
