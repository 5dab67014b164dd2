import { DOMAIN_ERRORS, type DomainErrorCode } from './domain/error-table.ts'

/** A command that the rules refuse. The caller's fault or the state's, never a fault of the store. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: DomainErrorCode
  /** Name of the condition, bucket or other thing concerned, if any. */
  readonly subject: string | undefined

  constructor(code: DomainErrorCode, subject?: string) {
    super(DOMAIN_ERRORS[code].sentence)
    this.code = code
    this.subject = subject
  }
}

/** A row of the projections is not as it was written: it answers nothing, and the next start derives all of them again. */
export class RowDamagedError extends DomainError {
  /** Name of the table; empty when a page was met that may be of any. */
  readonly table: string
  /** Of the row, in hexadecimal; empty when a page of rows cannot be read. */
  readonly key: string

  constructor(table: string, key: string, cause?: unknown) {
    super('row-damaged')
    this.table = table
    this.key = key
    if (cause !== undefined) this.cause = cause
  }
}

/** Whether a row was damaged: also where the error crossed threads, and is only a code. */
export function isRowDamage(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === 'row-damaged'
}

/** The engine accepts no more commands: it is stopping, or has failed. Nothing was changed, nor will be after a restart. */
export class EngineUnavailableError extends Error {
  override readonly name: string = 'EngineUnavailableError'
}

/** The engine failed at the command or before it; only a restart will show whether the change exists. */
export class OutcomeUnknownError extends EngineUnavailableError {
  override readonly name = 'OutcomeUnknownError'
}

/** A version before 1.0.0, which was never released, wrote the store or backup. It is left as it is. */
export class StoreUnreleasedError extends Error {
  override readonly name = 'StoreUnreleasedError'
}

/** A newer version of the program wrote something that this one cannot read. It is left as it is. */
export class NewerFormatError extends Error {
  override readonly name = 'NewerFormatError'
}

/** A start was asked to stop. The next one continues what it has done. */
export class StartStoppedError extends Error {
  override readonly name = 'StartStoppedError'

  constructor() {
    super('the start was asked to stop; the next one continues it')
  }
}
