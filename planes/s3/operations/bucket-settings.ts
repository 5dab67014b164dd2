/**
 * Settings that buckets of this store do not have, as S3 answers for a bucket without them: an empty document, or 404 by
 * name. Clients that read all settings of a bucket, such as Terraform, take these answers for "not set".
 */
import type { BucketState } from '../../../engine/state-ports.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error, type S3ErrorCode } from '../errors/s3-errors.ts'
import { requireBucket } from '../handling/lookup.ts'
import { defineOperation, type Operation } from '../handling/operation.ts'
import type { S3Services } from '../handling/services.ts'
import { element, successDocument } from '../text/xml-writer.ts'

type Answer = (bucket: BucketState, services: S3Services) => HttpResponse

/** @param action without `s3:` */
function reading(name: string, subresource: string, action: string, answer: Answer): Operation {
  return defineOperation({
    name,
    extension: 'bucket-reads',
    method: 'GET',
    level: 'bucket',
    subresource,
    action: `s3:${action}`,
    coveredBy: 's3:ManageBucket',
    handle: (request, services) => answer(requireBucket(request, services), services),
  })
}

function notSet(code: S3ErrorCode): Answer {
  return ({ name }) => {
    throw new S3Error(code, { details: [['BucketName', name]] })
  }
}

function always(root: string, inner = ''): Answer {
  return () => xmlResponse(successDocument(root, inner))
}

export const getBucketAccelerateConfiguration = reading(
  'GetBucketAccelerateConfiguration',
  'accelerate',
  'GetAccelerateConfiguration',
  always('AccelerateConfiguration'),
)

/** The algorithm of S3-managed keys: the store seals each payload with a key of its own, whatever a request asks for. */
const SEALED =
  '<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>' +
  '<BucketKeyEnabled>false</BucketKeyEnabled></Rule>'

export const getBucketEncryption = reading(
  'GetBucketEncryption',
  'encryption',
  'GetEncryptionConfiguration',
  (bucket, services) =>
    services.encrypts
      ? xmlResponse(successDocument('ServerSideEncryptionConfiguration', SEALED))
      : notSet('ServerSideEncryptionConfigurationNotFoundError')(bucket, services),
)

export const getBucketLogging = reading(
  'GetBucketLogging',
  'logging',
  'GetBucketLogging',
  always('BucketLoggingStatus'),
)

export const getBucketNotificationConfiguration = reading(
  'GetBucketNotificationConfiguration',
  'notification',
  'GetBucketNotification',
  always('NotificationConfiguration'),
)

/** Policies decide and ACLs do not exist, which is what this value means on S3. */
export const getBucketOwnershipControls = reading(
  'GetBucketOwnershipControls',
  'ownershipControls',
  'GetBucketOwnershipControls',
  always('OwnershipControls', `<Rule>${element('ObjectOwnership', 'BucketOwnerEnforced')}</Rule>`),
)

export const getPublicAccessBlock = reading(
  'GetPublicAccessBlock',
  'publicAccessBlock',
  'GetBucketPublicAccessBlock',
  notSet('NoSuchPublicAccessBlockConfiguration'),
)

export const getBucketReplication = reading(
  'GetBucketReplication',
  'replication',
  'GetReplicationConfiguration',
  notSet('ReplicationConfigurationNotFoundError'),
)

export const getBucketRequestPayment = reading(
  'GetBucketRequestPayment',
  'requestPayment',
  'GetBucketRequestPayment',
  always('RequestPaymentConfiguration', element('Payer', 'BucketOwner')),
)

export const getBucketWebsite = reading(
  'GetBucketWebsite',
  'website',
  'GetBucketWebsite',
  notSet('NoSuchWebsiteConfiguration'),
)
