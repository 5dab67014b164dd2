/** What a step leaves behind: more to do at once, nothing to do for now, or nothing to do ever again. */
export type StepResult = 'more' | 'idle' | 'done'

/**
 * A background job: one bounded step at a time, so that it never stands in anyone's way for long and can be stopped
 * between two steps.
 */
export interface BackgroundWorker {
  readonly name: string
  /** One sentence on where it stands. */
  readonly status: string
  /** Does a bounded piece of work. */
  step(): Promise<StepResult>
  /** Lets go of what is held between two steps. */
  close?(): Promise<void>
}
