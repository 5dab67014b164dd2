/**
 * Parts of S3 that are refused unless the setting `s3.extensions` turns them on. An operation or a header that belongs to
 * one names it; while it is off the refusal says so.
 */

export const EXTENSIONS = [
  'append',
  'aws-chunked',
  'checksums',
  'delete-objects',
  'list-objects-v1',
  'rename-object',
  'upload-part-copy',
] as const

export type Extension = (typeof EXTENSIONS)[number]

/** Those that are on. */
export type Extensions = ReadonlySet<Extension>

export const NO_EXTENSIONS: Extensions = new Set()

/** What a refusal says of the setting: a clause without a capital at its start or a full stop at its end. */
export function turnOn(extension: Extension): string {
  return `the server does it with ${extension} in its setting s3.extensions`
}
