import type { HttpResponse } from '../../http/exchange.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { copyObject } from './copy-object.ts'
import { createBucket } from './create-bucket.ts'
import { deleteBucket } from './delete-bucket.ts'
import { deleteObject } from './delete-object.ts'
import { getBucketLocation } from './get-bucket-location.ts'
import { getObject } from './get-object.ts'
import { headBucket } from './head-bucket.ts'
import { headObject } from './head-object.ts'
import { listBuckets } from './list-buckets.ts'
import { listObjectsV2 } from './list-objects-v2.ts'
import { putObject } from './put-object.ts'

export type OperationHandler = (request: S3Request, services: S3Services) => HttpResponse | Promise<HttpResponse>

/** One file per operation that works; a spec compares the list with the operation table. */
export const OPERATION_HANDLERS: ReadonlyMap<string, OperationHandler> = new Map<string, OperationHandler>([
  ['CopyObject', copyObject],
  ['CreateBucket', createBucket],
  ['DeleteBucket', deleteBucket],
  ['DeleteObject', deleteObject],
  ['GetBucketLocation', getBucketLocation],
  ['GetObject', getObject],
  ['HeadBucket', headBucket],
  ['HeadObject', headObject],
  ['ListBuckets', listBuckets],
  ['ListObjectsV2', listObjectsV2],
  ['PutObject', putObject],
])
