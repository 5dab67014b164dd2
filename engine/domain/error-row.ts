/** What a row of the table of errors says. */
import type { AuditResult } from '../events/audit.ts'

/** The answer to S3 clients. */
interface S3Refusal {
  readonly code: string
  /** Name of the element of the error document that carries the subject of the error. */
  readonly element?: string
  /** The S3 code alone is too vague: the row's sentence is appended. */
  readonly explained?: true
  /** The sentence of S3, if clients know it and it is more precise than the row's. */
  readonly message?: string
}

export interface DomainErrorRow {
  /** Result in the audit record of the refused request; 'failure' by default. */
  readonly result?: Exclude<AuditResult, 'attempted' | 'success'>
  /** `InvalidRequest` with the sentence by default. */
  readonly s3?: S3Refusal
  readonly management: string
  /** On the public routes, where they can meet the refusal. */
  readonly public?: string
  readonly sentence: string
}
