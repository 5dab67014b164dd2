import { Worker } from 'node:worker_threads'

/** Threads that make something from the projections or the journal, while the server answers requests. */

/** Of the garbage of a thread: with the default it would hold as much memory as the whole server. */
export const YOUNG_LIMIT = { maxYoungGenerationSizeMb: 8 } as const

/** Work of a background thread failed. */
export class BackgroundThreadError extends Error {
  override readonly name = 'BackgroundThreadError'
  /** Name of the error's class in the thread. */
  readonly reason: string

  constructor({ name, message }: Pick<Error, 'name' | 'message'>) {
    super(message)
    this.reason = name
  }
}

/** The message of a thread whose work failed. */
export interface ThreadFailure {
  readonly kind: 'failed'
  readonly name: string
  readonly message: string
}

export function threadFailure({ name, message }: Error): ThreadFailure {
  return { kind: 'failed', name, message }
}

/** The failure of a thread that ended without a message. */
export const NO_ANSWER: ThreadFailure = threadFailure(new Error('its thread ended without an answer'))

/** @param file the module of the thread, as it is in the build */
export function startBackgroundThread(file: URL, workerData: unknown): Worker {
  return new Worker(file, { workerData, resourceLimits: YOUNG_LIMIT })
}
