import type { CopySourceName } from '../commands/spine-commands.ts'
import { DomainError } from '../errors.ts'
import type { BucketState, ObjectState } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import type { DecisionContext } from './decision.ts'

/**
 * The version to copy, if it is still the version that the caller saw.
 * @throws DomainError bucket-not-found, object-not-found, version-not-found, source-changed, version-is-marker
 */
export function requireSource(
  command: CopySourceName,
  { state }: DecisionContext,
): { readonly source: ObjectState; readonly sourceBucket: BucketState } {
  const sourceBucket = requireBucket(state, command.sourceBucket)
  const { sourceKey, sourceSequence } = command
  if (command.sourceIsVersion) {
    // A lookup by sequence does not find the `null` version, whose id is `null`; another one may have replaced it.
    const nullVersion = state.version(sourceBucket.id, sourceKey, 'null')
    const isNull = nullVersion?.sequence === sourceSequence
    const source = isNull ? nullVersion : state.version(sourceBucket.id, sourceKey, sourceSequence)
    if (source === undefined) {
      throw new DomainError(nullVersion === undefined ? 'version-not-found' : 'source-changed', sourceKey)
    }
    if (source.isMarker) throw new DomainError('version-is-marker')
    return { source, sourceBucket }
  }
  const source = state.object(sourceBucket.id, sourceKey)
  if (source === undefined) throw new DomainError('object-not-found', sourceKey)
  if (source.sequence !== sourceSequence) throw new DomainError('source-changed')
  return { source, sourceBucket }
}
