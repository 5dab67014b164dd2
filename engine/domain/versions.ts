import type { Microseconds, Sequence } from '../brands.ts'
import type { VersionName } from '../commands/version-name.ts'
import type { VersionPlace } from '../events/values.ts'
import type { BucketState, ObjectState, StateReader } from '../state-ports.ts'
import type { DecisionContext } from './decision.ts'
import { requireDestroyable } from './lock.ts'

/** The order time from which the age of a version counts: so no clock that was wrong makes it older than it is. */
export function agedFrom(version: ObjectState): Microseconds {
  return version.noncurrentMicroseconds ?? version.agedMicroseconds ?? version.modifiedMicroseconds
}

/**
 * How a new version or marker joins the others of its key: it replaces the object of a bucket without versioning, is
 * added to the others where versioning is enabled, and replaces the `null` one where it is suspended.
 * @param current the current object of the key
 * @throws DomainError when a lock protects the version that it would replace
 */
export function placeVersion(
  bucket: BucketState,
  key: string,
  current: ObjectState | undefined,
  context: DecisionContext,
): VersionPlace | undefined {
  switch (bucket.versioning) {
    case 'enabled':
      return { isNull: false, replacesNull: undefined }
    case 'suspended': {
      const replaced = context.state.version(bucket.id, key, 'null')
      if (replaced !== undefined) requireDestroyable(replaced, context, false)
      return { isNull: true, replacesNull: replaced?.sequence }
    }
    case 'off':
      if (current !== undefined) requireDestroyable(current, context, false)
      return undefined
  }
}

/** Bytes of the version that a new one takes the place of: none where it is added to the others. */
export function bytesReplaced(
  bucket: BucketState,
  key: string,
  current: ObjectState | undefined,
  state: StateReader,
): number {
  if (bucket.versioning === 'off') return current?.size ?? 0
  return bucket.versioning === 'suspended' ? (state.version(bucket.id, key, 'null')?.size ?? 0) : 0
}

/** How the result names the version written by the entry of a sequence; undefined without versioning. */
export function selectorOf(
  place: Pick<VersionPlace, 'isNull'> | undefined,
  sequence: Sequence,
): { version?: VersionName } {
  if (place === undefined) return {}
  return { version: place.isNull ? 'null' : sequence }
}
