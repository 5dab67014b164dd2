/** The operations that this server implements: a file for each operation or subresource, and a line here. */
export { getBucketAcl, getObjectAcl, putBucketAcl, putObjectAcl } from './access-control-lists.ts'
export { abortMultipartUpload } from './abort-multipart-upload.ts'
export { deleteBucketCors, getBucketCors, putBucketCors } from './bucket-cors.ts'
export {
  deleteBucketLifecycle,
  getBucketLifecycleConfiguration,
  putBucketLifecycleConfiguration,
} from './bucket-lifecycle.ts'
export { deleteBucketPolicy, getBucketPolicy, getBucketPolicyStatus, putBucketPolicy } from './bucket-policy.ts'
export {
  getBucketAccelerateConfiguration,
  getBucketEncryption,
  getBucketLogging,
  getBucketNotificationConfiguration,
  getBucketOwnershipControls,
  getBucketReplication,
  getBucketRequestPayment,
  getBucketWebsite,
  getPublicAccessBlock,
} from './bucket-settings.ts'
export { deleteBucketTagging, getBucketTagging, putBucketTagging } from './bucket-tagging.ts'
export { getBucketVersioning, putBucketVersioning } from './bucket-versioning.ts'
export { completeMultipartUpload } from './complete-multipart-upload.ts'
export { copyObject } from './copy-object.ts'
export { createBucket } from './create-bucket.ts'
export { createMultipartUpload } from './create-multipart-upload.ts'
export { deleteBucket } from './delete-bucket.ts'
export { deleteObject } from './delete-object.ts'
export { deleteObjects } from './delete-objects.ts'
export { getBucketLocation } from './get-bucket-location.ts'
export { getObject } from './get-object.ts'
export { getObjectAttributes } from './get-object-attributes.ts'
export { headBucket } from './head-bucket.ts'
export { headObject } from './head-object.ts'
export { listenBucketNotification, listenNotification } from './listen-notification.ts'
export { listBuckets } from './list-buckets.ts'
export { listMultipartUploads } from './list-multipart-uploads.ts'
export { listObjectVersions } from './list-object-versions.ts'
export { listObjects } from './list-objects.ts'
export { listObjectsV2 } from './list-objects-v2.ts'
export { listParts } from './list-parts.ts'
export { getObjectLegalHold, putObjectLegalHold } from './object-legal-hold.ts'
export { getObjectLockConfiguration, putObjectLockConfiguration } from './object-lock-configuration.ts'
export { getObjectRetention, putObjectRetention } from './object-retention.ts'
export { deleteObjectTagging, getObjectTagging, putObjectTagging } from './object-tagging.ts'
export { preflightBucket, preflightObject } from './preflight.ts'
export { postObject } from './post-object.ts'
export { putObject } from './put-object.ts'
export { renameObject } from './rename-object.ts'
export { uploadPart } from './upload-part.ts'
export { uploadPartCopy } from './upload-part-copy.ts'
