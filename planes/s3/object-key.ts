/** The one place that says what a key may be. Request paths and copy sources both come through here. */

import { S3Error } from './errors.ts'

export const KEY_BYTES_MAXIMUM = 1024

/**
 * Checks the length of a decoded key in UTF-8.
 * @throws S3Error KeyTooLongError
 */
export function checkKeyLength(key: string): void {
  // A code unit is at least one byte and at most three, so that most keys need no counting.
  if (key.length * 3 <= KEY_BYTES_MAXIMUM) return
  const bytes = Buffer.byteLength(key)
  if (bytes <= KEY_BYTES_MAXIMUM) return
  const details = [
    ['Size', String(bytes)],
    ['MaxSizeAllowed', String(KEY_BYTES_MAXIMUM)],
  ] as const
  throw new S3Error('KeyTooLongError', { details })
}
