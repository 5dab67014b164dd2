import { type MessagePort, Worker } from 'node:worker_threads'
import type { EngineThreadData, FromEngineThread, ToEngineThread } from './thread-messages.ts'

/** A failure of the engine thread, by the name of the error's class there. */
export class EngineThreadError extends Error {
  override readonly name = 'EngineThreadError'
  readonly errorName: string

  constructor(errorName: string, message: string) {
    super(message)
    this.errorName = errorName
  }
}

/** The engine thread as the main thread sees it. */
export class EngineThread {
  readonly deploymentId: string
  /** Name of this start. */
  readonly start: string
  readonly report: Extract<FromEngineThread, { kind: 'ready' }>['report']
  readonly #worker: Worker
  #onFailure: (error: EngineThreadError) => void = () => undefined
  #failure: EngineThreadError | undefined

  private constructor(worker: Worker, ready: Extract<FromEngineThread, { kind: 'ready' }>) {
    this.#worker = worker
    this.deploymentId = ready.deploymentId
    this.start = ready.start
    this.report = ready.report
    worker.on('message', (message: FromEngineThread) => {
      if (message.kind === 'failed') this.#fail(new EngineThreadError(message.error, message.message))
    })
    worker.on('error', (error) => this.#fail(new EngineThreadError('Error', String(error))))
  }

  /** @throws EngineThreadError when the store cannot be opened */
  static open(data: EngineThreadData): Promise<EngineThread> {
    const worker = new Worker(new URL('./engine-thread.js', import.meta.url), { workerData: data })
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(new EngineThreadError('Error', String(error)))
      worker.once('error', fail)
      worker.once('message', (message: FromEngineThread) => {
        worker.off('error', fail)
        if (message.kind === 'ready') resolve(new EngineThread(worker, message))
        if (message.kind !== 'failed') return
        void worker.terminate()
        reject(new EngineThreadError(message.error, message.message))
      })
    })
  }

  /** False once the engine failed. */
  get healthy(): boolean {
    return this.#failure === undefined
  }

  /** `listener` hears of the failure that makes the engine unusable, once, also if it has happened already. */
  onFailure(listener: (error: EngineThreadError) => void): void {
    this.#onFailure = listener
    if (this.#failure !== undefined) listener(this.#failure)
  }

  attach(port: MessagePort): void {
    const message: ToEngineThread = { kind: 'attach', port }
    this.#worker.postMessage(message, [port])
  }

  /** Notes the clean stop and closes the store. After a failure it only ends the thread: the journal is not touched. */
  async stop(): Promise<void> {
    if (this.#failure === undefined) {
      const stopped = new Promise<void>((resolve) => {
        this.#worker.on('message', (message: FromEngineThread) => {
          if (message.kind === 'stopped' || message.kind === 'failed') resolve()
        })
        this.#worker.once('exit', () => resolve())
      })
      const message: ToEngineThread = { kind: 'stop' }
      this.#worker.postMessage(message)
      await stopped
    }
    await this.#worker.terminate()
  }

  #fail(error: EngineThreadError): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#onFailure(error)
  }
}
