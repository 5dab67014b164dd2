/** The query parameters of the listings. */

import { invalidArgument } from './errors.ts'
import type { QueryParameters } from './query-parameters.ts'

export const LIST_KEYS_MAXIMUM = 1000
export const LIST_BUCKETS_MAXIMUM = 10_000
export const LIST_PARTS_MAXIMUM = 1000
export const LIST_UPLOADS_MAXIMUM = 1000

/** The bound that S3 names for markers that are numbers. */
const MARKER_MAXIMUM = 2 ** 31 - 1

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

export interface ListObjectVersionsParameters {
  /** Empty when absent. */
  readonly prefix: string
  /** Undefined when absent or empty, like the markers. */
  readonly delimiter: string | undefined
  /** The list goes on behind all versions of this key, or behind one of them. Need not be a key. */
  readonly keyMarker: string | undefined
  /** Never without a key marker. Whether it is a version id is not known here. */
  readonly versionIdMarker: string | undefined
  /** 0 to 1000. */
  readonly maxKeys: number
  readonly encodingType: 'url' | undefined
}

/** @throws S3Error InvalidArgument */
export function listObjectVersionsParameters(query: QueryParameters): ListObjectVersionsParameters {
  const keyMarker = query.first('key-marker') || undefined
  const versionIdMarker = query.first('version-id-marker') || undefined
  if (versionIdMarker !== undefined && keyMarker === undefined) {
    const message = 'A version-id marker cannot be specified without a key marker.'
    throw invalidArgument('version-id-marker', versionIdMarker, message)
  }
  return {
    prefix: query.first('prefix') ?? '',
    delimiter: query.first('delimiter') || undefined,
    keyMarker,
    versionIdMarker,
    maxKeys: pageSize(query, 'max-keys', { minimum: 0, maximum: LIST_KEYS_MAXIMUM }),
    encodingType: encodingType(query),
  }
}

export interface ListPartsParameters {
  /** 0 to 1000. */
  readonly maxParts: number
  /** The list goes on behind this number; 0 when absent. Need not be the number of a part. */
  readonly partNumberMarker: number
}

/** @throws S3Error InvalidArgument */
export function listPartsParameters(query: QueryParameters): ListPartsParameters {
  const marker = query.first('part-number-marker') ?? ''
  const partNumberMarker = /^\d{0,10}$/.test(marker) ? Number(marker) : Number.NaN
  if (!(partNumberMarker <= MARKER_MAXIMUM)) {
    const message = `Argument part-number-marker must be an integer between 0 and ${MARKER_MAXIMUM}`
    throw invalidArgument('part-number-marker', marker, message)
  }
  return { maxParts: pageSize(query, 'max-parts', { minimum: 0, maximum: LIST_PARTS_MAXIMUM }), partNumberMarker }
}

export interface ListMultipartUploadsParameters {
  /** Empty when absent. */
  readonly prefix: string
  /** Undefined when absent or empty, like the markers. */
  readonly delimiter: string | undefined
  /** The list goes on behind all uploads of this key, or behind one of them. */
  readonly keyMarker: string | undefined
  /** Never without a key marker: S3 takes no notice of it then. Whether it is an upload id is not known here. */
  readonly uploadIdMarker: string | undefined
  /** 0 to 1000. */
  readonly maxUploads: number
  readonly encodingType: 'url' | undefined
}

/** @throws S3Error InvalidArgument */
export function listMultipartUploadsParameters(query: QueryParameters): ListMultipartUploadsParameters {
  const keyMarker = query.first('key-marker') || undefined
  return {
    prefix: query.first('prefix') ?? '',
    delimiter: query.first('delimiter') || undefined,
    keyMarker,
    uploadIdMarker: keyMarker === undefined ? undefined : query.first('upload-id-marker') || undefined,
    maxUploads: pageSize(query, 'max-uploads', { minimum: 0, maximum: LIST_UPLOADS_MAXIMUM }),
    encodingType: encodingType(query),
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
