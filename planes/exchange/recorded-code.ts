/**
 * What records call the refusals of S3 that the rules and the management plane call otherwise. Only codes that S3 has
 * for nothing else.
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
 * A code of a plane as records name it: in the style of the codes of the rules, lower case with hyphens. `NoSuchKey` and
 * `OBJECT_NOT_FOUND` are `object-not-found`, as when the engine refuses; `AccessDenied` is `access-denied`.
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
