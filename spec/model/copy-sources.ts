import type { CopySourceName } from '../../engine/commands/spine-commands.ts'
import type { ModelState, ModelVersion } from './state.ts'

/** What a copy is made of, or why it cannot be. */
export function sourceOf(
  state: ModelState,
  { sourceBucket, sourceKey, sourceSequence, sourceIsVersion }: CopySourceName,
): ModelVersion | string {
  const from = state.buckets.get(sourceBucket)
  if (from === undefined) return 'bucket-not-found'
  const versions = state.versions(from, sourceKey)
  const named = versions.find((version) => version.sequence === sourceSequence)
  const source = sourceIsVersion ? named : state.current(from, sourceKey)
  if (source === undefined) {
    if (!sourceIsVersion) return 'object-not-found'
    // A `null` version that is not the one that was seen may have taken its place.
    return versions.some(({ isNull }) => isNull) ? 'source-changed' : 'version-not-found'
  }
  if (source.isMarker) return 'version-is-marker'
  return source.sequence === sourceSequence ? source : 'source-changed'
}
