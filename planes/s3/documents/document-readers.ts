/**
 * The reader of each document that clients send, by name. A thread may read a big document, so arguments and results are
 * values that can be sent between threads; a Buffer in a result arrives as a Uint8Array.
 */

import { parseCorsConfiguration } from '../cors/cors-configuration.ts'
import { S3Error, type S3ErrorCode } from '../errors/s3-errors.ts'
import { parseAccessControlPolicy } from './access-control-policy.ts'
import { parseCompleteMultipartUpload } from './completion-list.ts'
import { parseCreateBucketConfiguration } from './create-bucket-configuration.ts'
import { parseDeletionList } from './delete-documents.ts'
import { parseLegalHold } from './legal-hold.ts'
import { parseLifecycleConfiguration } from './lifecycle-configuration.ts'
import { parseObjectLockConfiguration } from './object-lock-configuration.ts'
import { parseRetention } from './retention.ts'
import { parseTagging } from './tagging.ts'
import { parseVersioningConfiguration } from './versioning-configuration.ts'

const readers = {
  'access control': parseAccessControlPolicy,
  'bucket configuration': parseCreateBucketConfiguration,
  completion: parseCompleteMultipartUpload,
  cors: parseCorsConfiguration,
  deletions: parseDeletionList,
  'legal hold': parseLegalHold,
  lifecycle: parseLifecycleConfiguration,
  'lock configuration': parseObjectLockConfiguration,
  retention: parseRetention,
  tagging: parseTagging,
  versioning: parseVersioningConfiguration,
}

type Readers = typeof readers
export type DocumentName = keyof Readers
/** What the reader of a document returns. */
export type DocumentOf<N extends DocumentName> = ReturnType<Readers[N]>
/** What the reader takes after the body. */
export type ReaderArguments<N extends DocumentName> =
  Parameters<Readers[N]> extends [Buffer, ...infer Rest] ? Rest : never

/** @throws S3Error */
export function readBody<N extends DocumentName>(name: N, body: Buffer, rest: ReaderArguments<N>): DocumentOf<N> {
  const reader = readers[name] as (body: Buffer, ...rest: readonly unknown[]) => DocumentOf<N>
  return reader(body, ...rest)
}

/** To the thread that reads big documents. */
export interface DocumentJob {
  readonly name: DocumentName
  readonly body: Uint8Array
  readonly rest: readonly unknown[]
}

/** From that thread: what was read, or the members of the S3Error that refuses the document. */
export type DocumentAnswer =
  | { readonly value: unknown }
  | { readonly refusal: { readonly code: S3ErrorCode; readonly message: string; readonly details: S3Error['details'] } }

/** @throws Error that is no S3Error, which is a fault of the reader */
export function answerTo({ name, body, rest }: DocumentJob): DocumentAnswer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  try {
    return { value: readBody(name, bytes, rest as ReaderArguments<DocumentName>) }
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    const { code, message, details } = error
    return { refusal: { code, message, details } }
  }
}
