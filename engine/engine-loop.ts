import type { Engine, EngineReply, EngineRequest, ReleasedFiles } from './engine.ts'

/** How long audit records of reads may wait to share the sync of a change; nobody waits for them. */
const AUDIT_LINGER_MILLISECONDS = 10
/** More waiting audit records than this are written at once. */
const AUDIT_WAITING_MAXIMUM = 2048

interface Waiting {
  readonly request: EngineRequest
  readonly settle: ((reply: EngineReply, failure?: unknown) => void) | undefined
}

interface LoopHooks {
  /** Files without a reference, after the commit. */
  readonly onReleased: (released: ReleasedFiles) => void
  /** The engine is unusable; called once. */
  readonly onFailure: (error: unknown) => void
  /** After every batch and its replies. */
  readonly onBatchDone: () => void
  /** Who may do what has changed; called after the commit and before any reply. */
  readonly onAccessChanged?: () => void
}

/**
 * Gathers requests and runs them batch by batch: the requests that arrived while the engine was busy are the next batch.
 * No timer delays a change.
 */
export class EngineLoop {
  readonly #engine: Engine
  readonly #hooks: LoopHooks
  #waiting: Waiting[] = []
  #scheduled: 'no' | 'in a while' | 'now' = 'no'
  #timer: NodeJS.Timeout | undefined
  #failure: unknown
  #idle: (() => void)[] = []

  constructor(engine: Engine, hooks: LoopHooks) {
    this.#engine = engine
    this.#hooks = hooks
  }

  /** Requests that wait for their batch. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** `settle` is called once, with the reply or with the failure that made the engine unusable. */
  submit(request: EngineRequest, settle?: (reply: EngineReply, failure?: unknown) => void): void {
    if (this.#failure !== undefined) {
      settle?.(undefined, this.#failure)
      return
    }
    this.#waiting.push({ request, settle })
    if (request.kind === 'command' || this.#waiting.length > AUDIT_WAITING_MAXIMUM) this.#runSoon()
    else this.#runInAWhile()
  }

  /** Resolves when no request waits. */
  drained(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve()
    this.#runSoon()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Nothing runs from now on: requests that wait or arrive fail because the engine is closed. */
  close(): void {
    clearTimeout(this.#timer)
    this.#failure ??= new Error('the engine is closed')
    for (const one of this.#waiting.splice(0)) one.settle?.(undefined, this.#failure)
  }

  #runSoon(): void {
    if (this.#scheduled === 'now') return
    clearTimeout(this.#timer)
    this.#scheduled = 'now'
    setImmediate(() => this.#run())
  }

  #runInAWhile(): void {
    if (this.#scheduled !== 'no') return
    this.#scheduled = 'in a while'
    this.#timer = setTimeout(() => this.#run(), AUDIT_LINGER_MILLISECONDS)
  }

  #run(): void {
    this.#scheduled = 'no'
    const waiting = this.#waiting
    if (waiting.length > 0 && this.#failure === undefined) {
      try {
        const { replies, released, accessChanged } = this.#engine.run(waiting.map((one) => one.request))
        this.#waiting = waiting.slice(replies.length)
        // Before any reply: a request after the reply must see the change.
        if (accessChanged) this.#hooks.onAccessChanged?.()
        replies.forEach((reply, index) => waiting[index]?.settle?.(reply))
        if (released.files.length > 0 || released.volumes.length > 0) this.#hooks.onReleased(released)
      } catch (error) {
        this.#fail(error)
      }
      this.#hooks.onBatchDone()
    }
    if (this.#waiting.length > 0) this.#runSoon()
    else for (const resolve of this.#idle.splice(0)) resolve()
  }

  #fail(error: unknown): void {
    this.#failure = error
    const waiting = this.#waiting.splice(0)
    for (const one of waiting) one.settle?.(undefined, error)
    this.#hooks.onFailure(error)
  }
}
