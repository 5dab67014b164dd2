import { S3Error } from '../../../planes/s3/errors/s3-errors.ts'

export type S3Answer<T> = { readonly value: T } | { readonly code: string }

/** What a reader of the S3 plane gives, or the code that it refuses with. Any other error is passed on. */
export function s3Answer<T>(read: () => T): S3Answer<T> {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    if (error.status >= 500 && error.code !== 'NotImplemented') throw error
    return { code: error.code }
  }
}
