/** The naming rules of buckets (S3 user guide, "Bucket naming rules", general purpose buckets). */

import { S3Error } from './errors.ts'

/** 3 to 63 of `a-z 0-9 . -`, a letter or digit at both ends. */
const SHAPE = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** An empty label, or one that begins or ends with a hyphen, can be no part of a host name (RFC 1123 section 2.1). */
const BAD_LABEL = /\.\.|\.-|-\./
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

export const RESERVED_PREFIXES: readonly string[] = ['xn--', 'sthree-', 'amzn-s3-demo-']
export const RESERVED_SUFFIXES: readonly string[] = ['-s3alias', '--ol-s3', '.mrap', '--x-s3']

export function isBucketName(name: string): boolean {
  return (
    SHAPE.test(name) &&
    !BAD_LABEL.test(name) &&
    !IPV4.test(name) &&
    !RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)) &&
    !RESERVED_SUFFIXES.some((suffix) => name.endsWith(suffix))
  )
}

/**
 * For creation. On other requests a name outside the rules simply belongs to no bucket.
 * @throws S3Error InvalidBucketName
 */
export function checkBucketName(name: string): void {
  if (!isBucketName(name)) throw new S3Error('InvalidBucketName', { details: [['BucketName', name]] })
}
