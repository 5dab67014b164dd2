/** Result of a step: more to do at once, nothing to do for now, or nothing to do ever again. */
export type StepResult = 'more' | 'idle' | 'done'

/**
 * A background job that works in bounded steps, so that it never blocks requests for long and can be stopped between two
 * steps.
 */
export interface BackgroundWorker {
  readonly name: string
  /** Its progress in one sentence. */
  readonly status: string
  /** Does a bounded piece of work. */
  step(): Promise<StepResult>
  /** Resolves when there is something to do again; a worker that was idle is then not left to rest any longer. */
  woken?(): Promise<void>
  /** Releases what it holds between two steps. */
  close?(): Promise<void>
}
