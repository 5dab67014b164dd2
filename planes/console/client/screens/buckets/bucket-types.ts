import type { Answer } from '../../api/call.ts'

export type Bucket = Answer<'GET /buckets/{bucket}'>
export type Quota = Bucket['quota']
export type LifecycleRule = Answer<'GET /buckets/{bucket}/lifecycle'>['rules'][number]
export type Webhook = Answer<'GET /webhooks'>['webhooks'][number]

/** What every part of a bucket's settings is given. */
export interface BucketPart {
  readonly bucket: Bucket
  /** Called when something has changed. */
  readonly changed: () => void
}
