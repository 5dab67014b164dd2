import type { Worker } from 'node:worker_threads'
import type { Answered, Ask } from './thread-messages.ts'

/** A thread's answer from its event loop: undefined, or why it cannot serve. */
export type ThreadAnswer = string | undefined

/**
 * Asks a thread whether its event loop turns and it can serve. At most one question is in flight; concurrent callers
 * share it.
 */
export class ThreadQuestion {
  readonly #worker: Pick<Worker, 'postMessage'>
  #pending: Promise<ThreadAnswer> | undefined
  #resolve: (answer: ThreadAnswer) => void = () => undefined

  constructor(worker: Pick<Worker, 'postMessage'>) {
    this.#worker = worker
  }

  /** Resolves when the thread answers, which may be never. */
  ask(): Promise<ThreadAnswer> {
    this.#pending ??= new Promise((resolve) => {
      this.#resolve = resolve
      const message: Ask = { kind: 'ask' }
      this.#worker.postMessage(message)
    })
    return this.#pending
  }

  /** Takes the answer of the thread. */
  answered({ problem }: Answered): void {
    this.#pending = undefined
    this.#resolve(problem)
  }
}
