/**
 * A background job: one bounded step at a time, so that it never stands in anyone's way for long and can be stopped
 * between two steps.
 */
export interface BackgroundWorker {
  readonly name: string
  /** One sentence on where it stands. */
  readonly status: string
  /** Does a bounded piece of work; false when there is nothing left to do. */
  step(): Promise<boolean>
}
