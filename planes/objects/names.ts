/** What the names of buckets and keys, and the values of stored headers, may be: one rule for every plane. */

/** 3 to 63 of `a-z 0-9 . -`, a letter or digit at both ends. */
const BUCKET_SHAPE = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** An empty label, or one that begins or ends with a hyphen, can be no part of a host name (RFC 1123 section 2.1). */
const BAD_LABEL = /\.\.|\.-|-\./
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

export const RESERVED_PREFIXES: readonly string[] = ['xn--', 'sthree-', 'amzn-s3-demo-']
export const RESERVED_SUFFIXES: readonly string[] = ['-s3alias', '--ol-s3', '.mrap', '--x-s3']

/** The naming rules of buckets (S3 user guide, "Bucket naming rules", general purpose buckets). */
export function isBucketName(name: string): boolean {
  return (
    BUCKET_SHAPE.test(name) &&
    !BAD_LABEL.test(name) &&
    !IPV4.test(name) &&
    !RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)) &&
    !RESERVED_SUFFIXES.some((suffix) => name.endsWith(suffix))
  )
}

/** Longest key, in bytes of UTF-8. */
export const KEY_BYTES_MAXIMUM = 1024

/** Bytes of a key in UTF-8 when it is too long, otherwise undefined. */
export function overlongKeyBytes(key: string): number | undefined {
  // A code unit is at least one byte and at most three, so that most keys need no counting.
  if (key.length * 3 <= KEY_BYTES_MAXIMUM) return undefined
  const bytes = Buffer.byteLength(key)
  return bytes > KEY_BYTES_MAXIMUM ? bytes : undefined
}

/**
 * Control characters, and the character that stands where bytes were no UTF-8: what was sent is not known any more, and
 * it takes three times the room.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN_IN_HEADERS = /[\u0000-\u001f\u007f-\u009f\ufffd]/

/** Whether a text can be kept and given back as a header value: no line ends, no other control characters, UTF-8. */
export function isHeaderValue(text: string): boolean {
  return !FORBIDDEN_IN_HEADERS.test(text)
}
