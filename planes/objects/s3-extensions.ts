/**
 * Parts of S3 that are refused unless the setting `s3.extensions` turns them on. Operations and headers name their
 * extension, and while it is off the refusal names the setting.
 */

export const EXTENSIONS = [
  'append',
  'aws-chunked',
  'bucket-policy',
  'bucket-reads',
  'checksums',
  'delete-objects',
  'lifecycle-api',
  'list-objects-v1',
  'listen',
  'post-object',
  'presign-v2',
  'rename-object',
  'tagging',
  'upload-part-copy',
] as const

export type Extension = (typeof EXTENSIONS)[number]

/** Names of the setting `s3.profile`, which gives the settings of the S3 plane their values under one name. */
export const PROFILES = ['strict', 'compatible'] as const

export type Profile = (typeof PROFILES)[number]

/** From where bodies in unsigned chunks are accepted over plain HTTP: the setting `s3.unsigned_chunks_over_http`. */
export const UNSIGNED_CHUNKS = ['false', 'private', 'true'] as const

export type UnsignedChunks = (typeof UNSIGNED_CHUNKS)[number]

/** The extensions that are turned on. */
export type Extensions = ReadonlySet<Extension>

export const NO_EXTENSIONS: Extensions = new Set()

/** The advice in a refusal to set it on at the server: a clause without capital letter and full stop. */
export function turnOn(extension: Extension): string {
  return `the server does it with s3.profile=compatible, or with ${extension} in s3.extensions`
}
