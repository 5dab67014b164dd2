/**
 * Parts of S3 that are refused unless the setting `s3.extensions` turns them on. Operations and headers name their
 * extension, and while it is off the refusal names the setting.
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

/** The extensions that are turned on. */
export type Extensions = ReadonlySet<Extension>

export const NO_EXTENSIONS: Extensions = new Set()

/** The advice in a refusal to turn the extension on: a clause without capital letter and full stop. */
export function turnOn(extension: Extension): string {
  return `the server does it with ${extension} in its setting s3.extensions`
}
