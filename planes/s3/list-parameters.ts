/** The query parameters of the listings. */

import { invalidArgument } from './errors.ts'
import type { QueryParameters } from './query-parameters.ts'

export const LIST_KEYS_MAXIMUM = 1000
export const LIST_BUCKETS_MAXIMUM = 10_000

export interface ListObjectsV2Parameters {
  /** Empty when absent. */
  readonly prefix: string
  /** Undefined when absent or empty. */
  readonly delimiter: string | undefined
  /** 0 to 1000. */
  readonly maxKeys: number
  /** As sent, to be echoed; an empty one asks for the first page. */
  readonly continuationToken: string | undefined
  /** Undefined when absent or empty. Not looked at beside a continuation token that is not empty. */
  readonly startAfter: string | undefined
  readonly fetchOwner: boolean
  readonly encodingType: 'url' | undefined
}

/** @throws S3Error InvalidArgument */
export function listObjectsV2Parameters(query: QueryParameters): ListObjectsV2Parameters {
  return {
    prefix: query.first('prefix') ?? '',
    delimiter: query.first('delimiter') || undefined,
    maxKeys: pageSize(query, 'max-keys', { minimum: 0, maximum: LIST_KEYS_MAXIMUM }),
    continuationToken: query.first('continuation-token'),
    startAfter: query.first('start-after') || undefined,
    fetchOwner: query.first('fetch-owner')?.toLowerCase() === 'true',
    encodingType: encodingType(query),
  }
}

export interface ListBucketsParameters {
  readonly prefix: string
  /** 1 to 10000. */
  readonly maxBuckets: number
  readonly continuationToken: string | undefined
}

/** @throws S3Error InvalidArgument */
export function listBucketsParameters(query: QueryParameters): ListBucketsParameters {
  return {
    prefix: query.first('prefix') ?? '',
    maxBuckets: pageSize(query, 'max-buckets', { minimum: 1, maximum: LIST_BUCKETS_MAXIMUM }),
    continuationToken: query.first('continuation-token') || undefined,
  }
}

function encodingType(query: QueryParameters): 'url' | undefined {
  const value = query.first('encoding-type')
  if (value === undefined || value === 'url') return value
  throw invalidArgument('encoding-type', value, 'Invalid Encoding Method specified in Request')
}

/** A whole number; absent or empty means the maximum, and so does anything above it. */
function pageSize(query: QueryParameters, name: string, bounds: { minimum: number; maximum: number }): number {
  const value = query.first(name) ?? ''
  if (value === '') return bounds.maximum
  const size = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (size >= bounds.minimum) return Math.min(size, bounds.maximum)
  throw invalidArgument(name, value, `${name} must be a whole number of at least ${bounds.minimum}.`)
}
