import { KEY_BYTES_MAXIMUM, overlongKeyBytes } from '../objects/names.ts'
import { S3Error } from './errors.ts'

/**
 * Checks the length of a decoded key. Request paths and copy sources both come through here.
 * @throws S3Error KeyTooLongError
 */
export function checkKeyLength(key: string): void {
  const bytes = overlongKeyBytes(key)
  if (bytes === undefined) return
  const details = [
    ['Size', String(bytes)],
    ['MaxSizeAllowed', String(KEY_BYTES_MAXIMUM)],
  ] as const
  throw new S3Error('KeyTooLongError', { details })
}
