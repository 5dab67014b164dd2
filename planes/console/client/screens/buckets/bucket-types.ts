import type { Answer } from '../../api/call.ts'

export type Bucket = Answer<'GET /buckets/{bucket}'>
export type Quota = Bucket['quota']
export type LifecycleRule = Answer<'GET /buckets/{bucket}/lifecycle'>['rules'][number]
export type Webhook = Answer<'GET /webhooks'>['webhooks'][number]

/** Props of every part of a bucket's settings. */
export interface BucketPart {
  readonly bucket: Bucket
  /** Called after a change. */
  readonly changed: () => void
}
