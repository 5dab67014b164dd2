import type { VersionName } from '../../../engine/commands/version-name.ts'
import type { BucketState, ObjectState } from '../../../engine/state-ports.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import type { S3Services } from './services.ts'

/** The version header of an answer about an object: none in a bucket that never had versioning. */
export function versionHeader(
  bucket: BucketState,
  version: Pick<ObjectState, 'isNull' | 'sequence'>,
  services: S3Services,
): HeaderLine[] {
  return bucket.versioning === 'off' ? [] : [['x-amz-version-id', versionIdOf(version, services.versionIds)]]
}

/**
 * The version header of an answer to a write, from what the engine returned. A write that makes a `null` version has none,
 * as in a bucket that never had versioning.
 */
export function writtenVersionHeader(version: VersionName | undefined, services: S3Services): HeaderLine[] {
  if (version === undefined || version === 'null') return []
  return [['x-amz-version-id', services.versionIds.encode(version)]]
}
