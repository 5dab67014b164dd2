/** Who may carry tags from one object to another: a copy that keeps them and a rename read and write them. */
import type { FoundObject } from '../../objects/find-object.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { areAllowed } from '../policies/permissions.ts'
import { GET_TAGS, GET_VERSION_TAGS, PUT_TAGS, TAGGING_DIRECTIVE } from '../request/tags.ts'
import { type ObjectRequest, resourceOf } from './s3-request.ts'
import type { S3Services } from './services.ts'

/** @throws S3Error AccessDenied */
export function requireCopiedTags(request: ObjectRequest, services: S3Services, source: FoundObject): void {
  const action = source.version === undefined ? GET_TAGS : GET_VERSION_TAGS
  if (mayCarry(request, services, action, `bucket:${source.bucket.name}/${source.key}`)) return
  throw new S3Error('AccessDenied', {
    message: `Access Denied: the source has tags, and copying them needs ${action} on it and ${PUT_TAGS} on the copy. ${TAGGING_DIRECTIVE}: REPLACE copies none.`,
  })
}

/** @throws S3Error AccessDenied */
export function requireRenamedTags(request: ObjectRequest, services: S3Services, bucket: string, key: string): void {
  if (mayCarry(request, services, GET_TAGS, `bucket:${bucket}/${key}`)) return
  throw new S3Error('AccessDenied', {
    message: `Access Denied: the source has tags, and renaming it needs ${GET_TAGS} on it and ${PUT_TAGS} on the new name.`,
  })
}

/** While the extension is off no request reads tags, and they go where the object goes. */
function mayCarry({ identity, target }: ObjectRequest, services: S3Services, action: string, source: string): boolean {
  if (!services.extensions.has('tagging')) return true
  const written = { action: PUT_TAGS, resource: resourceOf(target) }
  return areAllowed(identity, [{ action, resource: source }, written], services.bucketPolicies)
}
