import type { ObjectState } from '../../../engine/state-ports.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { areAllowed } from '../policies/permissions.ts'
import { GET_TAGS, GET_VERSION_TAGS } from '../request/tags.ts'
import { resourceOf, type S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'

/** The header of a read that counts the tags of the version, for callers who may read them (S3 API reference, HeadObject). */
export function tagCount(
  { identity, target }: S3Request,
  { extensions, bucketPolicies }: S3Services,
  tags: NonNullable<ObjectState['tags']>,
): HeaderLine[] {
  if (identity === undefined || !extensions.has('tagging')) return []
  const action = target.query.has('versionId') ? GET_VERSION_TAGS : GET_TAGS
  if (!areAllowed(identity, [{ action, resource: resourceOf(target) }], bucketPolicies)) return []
  return [['x-amz-tagging-count', String(tags.length / 2)]]
}
