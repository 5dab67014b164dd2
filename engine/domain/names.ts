/** Valid bucket names, keys and values of stored headers: one rule for every plane. */

/** Characters of a bucket name, each one byte. */
export const BUCKET_NAME_LENGTH = { minimum: 3, maximum: 63 } as const
/** `a-z 0-9 . -`, a letter or digit at both ends. */
const BUCKET_SHAPE = /^[a-z0-9][a-z0-9.-]*[a-z0-9]$/
/** A label that is empty or has a hyphen at either end is not valid in a host name (RFC 1123 section 2.1). */
const BAD_LABEL = /\.\.|\.-|-\./
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

export const RESERVED_PREFIXES: readonly string[] = ['xn--', 'sthree-', 'amzn-s3-demo-']
export const RESERVED_SUFFIXES: readonly string[] = ['-s3alias', '--ol-s3', '.mrap', '--x-s3']

/** The naming rules of buckets (S3 user guide, "Bucket naming rules", general purpose buckets). */
export function isBucketName(name: string): boolean {
  return (
    name.length >= BUCKET_NAME_LENGTH.minimum &&
    name.length <= BUCKET_NAME_LENGTH.maximum &&
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
  // A UTF-16 code unit takes at most three bytes of UTF-8, so most keys need no counting.
  if (key.length * 3 <= KEY_BYTES_MAXIMUM) return undefined
  const bytes = Buffer.byteLength(key)
  return bytes > KEY_BYTES_MAXIMUM ? bytes : undefined
}

/**
 * Control characters, and U+FFFD, which replaces bytes that are not UTF-8: the bytes that were sent are no longer known,
 * and it takes three times their room.
 */
// oxlint-disable-next-line no-control-regex -- it searches for control characters
const FORBIDDEN_IN_HEADERS = /[\u0000-\u001f\u007f-\u009f\ufffd]/

/** Whether a text can be stored and sent back as a header value: UTF-8 without line ends or other control characters. */
export function isHeaderValue(text: string): boolean {
  return !FORBIDDEN_IN_HEADERS.test(text)
}

/** Printable ASCII without the space (S3 API reference, RenameObject, `x-amz-client-token`). */
const CLIENT_TOKEN = /^[!-~]{1,64}$/

/** Whether a text can name a request. */
export function isClientToken(text: string): boolean {
  return CLIENT_TOKEN.test(text)
}

/** Bounds of a tag in UTF-16 code units, as S3 counts them (S3 user guide, "Categorizing your objects using tags"). */
export const TAG_KEY_LENGTH_MAXIMUM = 128
export const TAG_VALUE_LENGTH_MAXIMUM = 256

/** Letters, spaces and digits of every script, and these signs. No control character is one, and no half of a pair. */
const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u

/** Whether a text can be the key of a tag. Prefixes that only S3 itself may use are not looked at. */
export function isTagKey(text: string): boolean {
  return text.length > 0 && text.length <= TAG_KEY_LENGTH_MAXIMUM && TAG_TEXT.test(text)
}

/** Whether a text can be the value of a tag. */
export function isTagValue(text: string): boolean {
  return text.length <= TAG_VALUE_LENGTH_MAXIMUM && TAG_TEXT.test(text)
}
