import type { HttpResponse } from '../../http/exchange.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { abortMultipartUpload } from './abort-multipart-upload.ts'
import { completeMultipartUpload } from './complete-multipart-upload.ts'
import { copyObject } from './copy-object.ts'
import { createBucket } from './create-bucket.ts'
import { createMultipartUpload } from './create-multipart-upload.ts'
import { deleteBucket } from './delete-bucket.ts'
import { deleteBucketCors } from './delete-bucket-cors.ts'
import { deleteObject } from './delete-object.ts'
import { getBucketCors } from './get-bucket-cors.ts'
import { getBucketLocation } from './get-bucket-location.ts'
import { getBucketVersioning } from './get-bucket-versioning.ts'
import { getObject } from './get-object.ts'
import { getObjectLegalHold } from './get-object-legal-hold.ts'
import { getObjectLockConfiguration } from './get-object-lock-configuration.ts'
import { getObjectRetention } from './get-object-retention.ts'
import { headBucket } from './head-bucket.ts'
import { headObject } from './head-object.ts'
import { listBuckets } from './list-buckets.ts'
import { listMultipartUploads } from './list-multipart-uploads.ts'
import { listObjectVersions } from './list-object-versions.ts'
import { listObjectsV2 } from './list-objects-v2.ts'
import { listParts } from './list-parts.ts'
import { putBucketCors } from './put-bucket-cors.ts'
import { putBucketVersioning } from './put-bucket-versioning.ts'
import { putObject } from './put-object.ts'
import { putObjectLegalHold } from './put-object-legal-hold.ts'
import { putObjectLockConfiguration } from './put-object-lock-configuration.ts'
import { putObjectRetention } from './put-object-retention.ts'
import { uploadPart } from './upload-part.ts'

export type OperationHandler = (request: S3Request, services: S3Services) => HttpResponse | Promise<HttpResponse>

/**
 * One file per operation that works; a spec compares the list with the operation table. Preflights are not among them:
 * what is here is called for signed requests only.
 */
export const OPERATION_HANDLERS: ReadonlyMap<string, OperationHandler> = new Map<string, OperationHandler>([
  ['AbortMultipartUpload', abortMultipartUpload],
  ['CompleteMultipartUpload', completeMultipartUpload],
  ['CopyObject', copyObject],
  ['CreateBucket', createBucket],
  ['CreateMultipartUpload', createMultipartUpload],
  ['DeleteBucket', deleteBucket],
  ['DeleteBucketCors', deleteBucketCors],
  ['DeleteObject', deleteObject],
  ['GetBucketCors', getBucketCors],
  ['GetBucketLocation', getBucketLocation],
  ['GetBucketVersioning', getBucketVersioning],
  ['GetObject', getObject],
  ['GetObjectLegalHold', getObjectLegalHold],
  ['GetObjectLockConfiguration', getObjectLockConfiguration],
  ['GetObjectRetention', getObjectRetention],
  ['HeadBucket', headBucket],
  ['HeadObject', headObject],
  ['ListBuckets', listBuckets],
  ['ListMultipartUploads', listMultipartUploads],
  ['ListObjectVersions', listObjectVersions],
  ['ListObjectsV2', listObjectsV2],
  ['ListParts', listParts],
  ['PutBucketCors', putBucketCors],
  ['PutBucketVersioning', putBucketVersioning],
  ['PutObject', putObject],
  ['PutObjectLegalHold', putObjectLegalHold],
  ['PutObjectLockConfiguration', putObjectLockConfiguration],
  ['PutObjectRetention', putObjectRetention],
  ['UploadPart', uploadPart],
])
