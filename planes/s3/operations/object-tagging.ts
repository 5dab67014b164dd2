import type { VersionName } from '../../../engine/commands/version-name.ts'
import { sequenceOf } from '../../../engine/brands.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { documentOf } from '../bodies/read-document.ts'
import { taggingDocument } from '../documents/tagging.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { requestedVersion, requireObject } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'
import { versionHeader } from '../handling/version-headers.ts'
import { GET_TAGS, GET_VERSION_TAGS, PUT_TAGS } from '../request/tags.ts'

const TAGS = { extension: 'tagging', level: 'object', subresource: 'tagging', accepts: ['versionId'] } as const

/**
 * S3 API reference, GetObjectTagging. Without tags it is the empty set. The AWS command line requests tags before each copy
 * in parts, and aborts the copy without an answer.
 */
export const getObjectTagging = defineOperation({
  name: 'GetObjectTagging',
  ...TAGS,
  alsoIn: ['upload-part-copy'],
  method: 'GET',
  action: GET_TAGS,
  versionAction: GET_VERSION_TAGS,
  handle(request, services) {
    const { bucket, object } = requireObject(request, services)
    return xmlResponse(taggingDocument(object.tags ?? []), versionHeader(bucket, object, services))
  },
})

/** S3 API reference, PutObjectTagging: replaces all tags of the version. */
export const putObjectTagging = defineOperation({
  name: 'PutObjectTagging',
  ...TAGS,
  method: 'PUT',
  action: PUT_TAGS,
  versionAction: 's3:PutObjectVersionTagging',
  async handle(request, services) {
    requireObject(request, services)
    const tags = await documentOf(request, 'tagging', ['object'])
    return { status: 200, headers: await setTags(request, services, tags) }
  },
})

/** S3 API reference, DeleteObjectTagging. The answer is the same where there are no tags. */
export const deleteObjectTagging = defineOperation({
  name: 'DeleteObjectTagging',
  ...TAGS,
  method: 'DELETE',
  action: 's3:DeleteObjectTagging',
  versionAction: 's3:DeleteObjectVersionTagging',
  async handle(request, services) {
    requireObject(request, services)
    return { status: 204, headers: await setTags(request, services, []) }
  },
})

/** @returns the header that names the version whose tags were set */
async function setTags(
  request: ObjectRequest,
  services: S3Services,
  tags: readonly string[],
): Promise<readonly HeaderLine[]> {
  const { bucket, key } = request
  const version = requestedVersion(request, services)
  const done = await request.journal.execute({ kind: 'set-tags', bucket, key, version, tags })
  const present = services.catalog.snapshot().bucket(bucket)
  return present === undefined ? [] : versionHeader(present, named(done.version), services)
}

function named(version: VersionName | undefined) {
  const isNull = version === undefined || version === 'null'
  return { isNull, sequence: isNull ? sequenceOf(0) : version }
}
