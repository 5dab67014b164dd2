/** Query parameters of listings. Every page size is at most 1000, except for buckets. */

import { invalidArgument } from '../errors/s3-errors.ts'
import type { QueryParameters } from './query-parameters.ts'

const PAGE_MAXIMUM = 1000
const BUCKETS_MAXIMUM = 10_000

/** S3's bound for numbers in a query, which have 32 bits with a sign. */
const NUMBER_MAXIMUM = 2 ** 31 - 1

/** Parameters common to all listings of keys. */
interface KeyListParameters {
  /** Empty when absent. */
  readonly prefix: string
  /** Undefined when absent or empty, like the markers. */
  readonly delimiter: string | undefined
  readonly encodingType: 'url' | undefined
}

export interface ListObjectsV2Parameters extends KeyListParameters {
  /** 0 to 1000. */
  readonly maxKeys: number
  /** As sent, for the answer; an empty token means the first page. */
  readonly continuationToken: string | undefined
  /** Undefined when absent or empty. Ignored when the continuation token is not empty. */
  readonly startAfter: string | undefined
  readonly fetchOwner: boolean
}

/** @throws S3Error InvalidArgument */
export function listObjectsV2Parameters(query: QueryParameters): ListObjectsV2Parameters {
  return {
    maxKeys: pageSize(query, 'max-keys'),
    ...keyListParameters(query),
    continuationToken: query.first('continuation-token'),
    startAfter: query.first('start-after') || undefined,
    fetchOwner: query.first('fetch-owner')?.toLowerCase() === 'true',
  }
}

export interface ListObjectsParameters extends KeyListParameters {
  /** The list continues after this key or common prefix, which need not exist. */
  readonly marker: string | undefined
  /** 0 to 1000. */
  readonly maxKeys: number
}

/** @throws S3Error InvalidArgument, also for an unknown `list-type` */
export function listObjectsParameters(query: QueryParameters): ListObjectsParameters {
  const version = query.first('list-type')
  if (version !== undefined) throw invalidArgument('list-type', version, 'Incorrect List Type specified in Request')
  return {
    maxKeys: pageSize(query, 'max-keys'),
    ...keyListParameters(query),
    marker: query.first('marker') || undefined,
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
    maxBuckets: pageSize(query, 'max-buckets', 1, BUCKETS_MAXIMUM),
    continuationToken: query.first('continuation-token') || undefined,
  }
}

export interface ListObjectVersionsParameters extends KeyListParameters {
  /** The list continues after all versions of this key, or after one of them. The key need not exist. */
  readonly keyMarker: string | undefined
  /** Undefined without a key marker. Not yet checked to be a version id. */
  readonly versionIdMarker: string | undefined
  /** 0 to 1000. */
  readonly maxKeys: number
}

/** @throws S3Error InvalidArgument */
export function listObjectVersionsParameters(query: QueryParameters): ListObjectVersionsParameters {
  const keyMarker = query.first('key-marker') || undefined
  const versionIdMarker = query.first('version-id-marker') || undefined
  if (versionIdMarker !== undefined && keyMarker === undefined) {
    const message = 'A version-id marker cannot be specified without a key marker.'
    throw invalidArgument('version-id-marker', versionIdMarker, message)
  }
  return { maxKeys: pageSize(query, 'max-keys'), ...keyListParameters(query), keyMarker, versionIdMarker }
}

interface ListPartsParameters {
  /** 0 to 1000. */
  readonly maxParts: number
  /** The list continues after this number; 0 when absent. Need not be the number of a part. */
  readonly partNumberMarker: number
}

/** @throws S3Error InvalidArgument */
export function listPartsParameters(query: QueryParameters): ListPartsParameters {
  const marker = query.first('part-number-marker') ?? ''
  const partNumberMarker = /^\d{0,10}$/.test(marker) ? Number(marker) : Number.NaN
  if (!(partNumberMarker <= NUMBER_MAXIMUM)) {
    const message = `Argument part-number-marker must be an integer between 0 and ${NUMBER_MAXIMUM}`
    throw invalidArgument('part-number-marker', marker, message)
  }
  return { maxParts: pageSize(query, 'max-parts'), partNumberMarker }
}

export interface ListMultipartUploadsParameters extends KeyListParameters {
  /** The list continues after all uploads of this key, or after one of them. */
  readonly keyMarker: string | undefined
  /** Undefined without a key marker, as S3 ignores it then. Not yet checked to be an upload id. */
  readonly uploadIdMarker: string | undefined
  /** 0 to 1000. */
  readonly maxUploads: number
}

/** @throws S3Error InvalidArgument */
export function listMultipartUploadsParameters(query: QueryParameters): ListMultipartUploadsParameters {
  const keyMarker = query.first('key-marker') || undefined
  const uploadIdMarker = keyMarker === undefined ? undefined : query.first('upload-id-marker') || undefined
  return { maxUploads: pageSize(query, 'max-uploads'), ...keyListParameters(query), keyMarker, uploadIdMarker }
}

function keyListParameters(query: QueryParameters): KeyListParameters {
  const encodingType = query.first('encoding-type')
  if (encodingType !== undefined && encodingType !== 'url') {
    throw invalidArgument('encoding-type', encodingType, 'Invalid Encoding Method specified in Request')
  }
  return { prefix: query.first('prefix') ?? '', delimiter: query.first('delimiter') || undefined, encodingType }
}

/** A whole number of 32 bits; absent or empty means the maximum, and so does anything above it. */
function pageSize(query: QueryParameters, name: string, minimum = 0, maximum = PAGE_MAXIMUM): number {
  const value = query.first(name) ?? ''
  if (value === '') return maximum
  const size = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (size >= minimum && size <= NUMBER_MAXIMUM) return Math.min(size, maximum)
  throw invalidArgument(name, value, `${name} must be a whole number between ${minimum} and ${NUMBER_MAXIMUM}.`)
}
