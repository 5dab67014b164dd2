/**
 * Recorded names of S3 codes that the rules and the management plane name differently. Only codes with a single meaning
 * in S3.
 */
const SAME: Readonly<Record<string, string>> = {
  NoSuchBucket: 'bucket-not-found',
  NoSuchKey: 'object-not-found',
  NoSuchVersion: 'version-not-found',
  NoSuchUpload: 'upload-not-found',
  InsufficientStorage: 'storage-full',
  QuotaExceeded: 'quota-exceeded',
}

/**
 * The recorded form of a plane's error code, in the style of the engine's codes: lower case with hyphens. `NoSuchKey`
 * and `OBJECT_NOT_FOUND` become `object-not-found`, as in refusals of the engine; `AccessDenied` becomes
 * `access-denied`.
 */
export function recordedCode(code: string): string {
  return SAME[code] ?? hyphenated(code)
}

function hyphenated(code: string): string {
  return code
    .replaceAll('_', '-')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
}
