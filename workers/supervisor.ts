import { setTimeout } from 'node:timers/promises'
import type { BackgroundWorker } from './worker.ts'

/** Pause between two steps of a worker, so that requests come first. */
const PAUSE_MILLISECONDS = 5
/** Pause of a worker that has nothing to do for now. */
const IDLE_MILLISECONDS = 1000
/** Pause after a failed step; it doubles up to the longest. */
const FIRST_RETRY_MILLISECONDS = 1000
const LONGEST_RETRY_MILLISECONDS = 60_000

/** Runs workers in parallel until they are done or it is stopped; retries a failed step after growing pauses. */
export class Supervisor {
  readonly #onFailure: (worker: BackgroundWorker, error: unknown) => void
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()

  constructor(onFailure: (worker: BackgroundWorker, error: unknown) => void) {
    this.#onFailure = onFailure
  }

  start(worker: BackgroundWorker): void {
    const running = this.#run(worker).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves when every worker has finished its current step. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#running)
  }

  async #run(worker: BackgroundWorker): Promise<void> {
    let retryMilliseconds = FIRST_RETRY_MILLISECONDS
    while (!this.#stop.signal.aborted) {
      try {
        const result = await worker.step()
        if (result === 'done') break
        retryMilliseconds = FIRST_RETRY_MILLISECONDS
        if (result === 'more') await this.#rest(PAUSE_MILLISECONDS)
        else await this.#idle(worker)
      } catch (error) {
        this.#onFailure(worker, error)
        await this.#rest(retryMilliseconds)
        retryMilliseconds = Math.min(2 * retryMilliseconds, LONGEST_RETRY_MILLISECONDS)
      }
    }
    await worker.close?.().catch((error: unknown) => this.#onFailure(worker, error))
  }

  /** Until the worker is woken, and for a second at most. */
  async #idle(worker: BackgroundWorker): Promise<void> {
    const over = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, over.signal])
    const rest = this.#rest(IDLE_MILLISECONDS, signal)
    await Promise.race(worker.woken === undefined ? [rest] : [rest, worker.woken()])
    over.abort()
  }

  async #rest(milliseconds: number, signal = this.#stop.signal): Promise<void> {
    await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined)
  }
}
