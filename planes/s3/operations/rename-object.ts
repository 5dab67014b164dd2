import type { CommandOf } from '../../../engine/commands/commands.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { whileSourceChanges } from '../../objects/copy-object.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { requireRenamedTags } from '../handling/carried-tags.ts'
import { bucketIn, requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import { checkSourceConditions, writeCondition } from '../request/conditions.ts'
import { clientToken, renameSource } from '../request/rename-source.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'

/** The rename that a request asks for, without its source version. */
type Rename = Pick<CommandOf<'rename-object'>, 'bucket' | 'key' | 'sourceKey' | 'condition' | 'token'>

/** S3 API reference, RenameObject (spec/decisions/0143). */
export const renameObject = defineOperation({
  name: 'RenameObject',
  method: 'PUT',
  level: 'object',
  subresource: 'renameObject',
  extension: 'rename-object',
  action: 's3:PutObject',
  bodyBytesMaximum: 0,
  async handle(request, services) {
    const { http, target } = request
    const bucket = requireBucket(request, services).name
    const sourceKey = renameSource(http, target, bucket)
    request.journal.note('source', `${bucket}/${sourceKey}`)
    const token = clientToken(http, target)
    const plain = { bucket, key: request.key, sourceKey, condition: targetCondition(http) }
    const rename: Rename = token === undefined ? plain : { ...plain, token }
    await whileSourceChanges(request.journal, () =>
      request.journal.execute({
        kind: 'rename-object',
        ...rename,
        sourceSequence: findSource(request, services, rename),
      }),
    )
    return { status: 200, headers: [] }
  },
})

/** @throws S3Error NotImplemented for conditions on time; as writeCondition */
function targetCondition(http: HttpRequest): Rename['condition'] {
  if (http.header('if-modified-since') === undefined) return writeCondition(http)
  const details = [['Header', 'If-Modified-Since']] as const
  throw new S3Error('NotImplemented', { message: 'If-Modified-Since is not supported on a rename.', details })
}

/**
 * The version to rename, if the conditions on it hold. Undefined for a repeat of a completed rename, which the engine
 * recognizes.
 * @throws S3Error NoSuchBucket, PreconditionFailed, AccessDenied (tags)
 */
function findSource(request: ObjectRequest, services: S3Services, { bucket, key, sourceKey, token }: Rename) {
  const { http, target } = request
  const snapshot = services.catalog.snapshot()
  const { id } = bucketIn(snapshot, bucket)
  const isRepeat = token !== undefined && snapshot.object(id, key)?.renamed?.token === token
  const source = isRepeat ? undefined : snapshot.object(id, sourceKey)
  if (source === undefined) return undefined
  if (source.tags !== undefined) requireRenamedTags(request, services, bucket, sourceKey)
  const validators = { etag: source.etag, lastModifiedMicroseconds: source.modifiedMicroseconds }
  checkSourceConditions(http, target, 'x-amz-rename-source-', validators, services.clock())
  return source.sequence
}
