import { setTimeout } from 'node:timers/promises'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Recounted } from '../../../projections/apply/recount.ts'
import type { ReplayReport } from '../store/opened-store.ts'
import type { RoomFor } from '../../../engine/journal/journal-room.ts'
import { CommitCounts, type SharedCounts } from '../../../projections/catalog/commit-counts.ts'
import { type ThreadAnswer, ThreadQuestion } from './thread-question.ts'
import type { EngineThreadData, FromEngineThread, ToEngineThread, Unrecorded } from './thread-messages.ts'

/** Time for a failed engine to keep late records. */
const STOP_MILLISECONDS = 5000

/** A failure of the engine thread, with the name of the error's class there. */
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
  readonly name = 'engine'
  readonly deploymentId: string
  /** Name of this start. */
  readonly start: string
  readonly report: Extract<FromEngineThread, { kind: 'ready' }>['report']
  /** Tells front ends how long their caches are valid. */
  readonly commitCounts: SharedCounts
  readonly #worker: Worker
  readonly #question: ThreadQuestion
  readonly #ended: Promise<void>
  #onFailure: (error: EngineThreadError) => void = () => undefined
  #onRoomChanged: (roomFor: RoomFor) => void = () => undefined
  #onRecounted: (found: Recounted) => void = (found) => this.#recounted.push(found)
  /** Kept until there is a listener. */
  readonly #recounted: Recounted[]
  #roomFor: RoomFor
  #failure: EngineThreadError | undefined

  private constructor(
    worker: Worker,
    ready: Extract<FromEngineThread, { kind: 'ready' }>,
    before: { readonly roomFor: RoomFor; readonly recounted: Recounted[] },
    commitCounts: SharedCounts,
  ) {
    this.#worker = worker
    this.#question = new ThreadQuestion(worker)
    this.commitCounts = commitCounts
    this.#roomFor = before.roomFor
    this.#recounted = before.recounted
    this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()))
    this.deploymentId = ready.deploymentId
    this.start = ready.start
    this.report = ready.report
    worker.on('message', (message: FromEngineThread) => {
      if (message.kind === 'answered') this.#question.answered(message)
      if (message.kind === 'room') {
        this.#roomFor = message.roomFor
        this.#onRoomChanged(message.roomFor)
      }
      if (message.kind === 'recounted') this.#onRecounted(message.found)
      if (message.kind === 'failed') this.#fail(new EngineThreadError(message.error, message.message))
    })
    worker.on('error', (error) => this.#fail(new EngineThreadError('Error', String(error))))
  }

  /**
   * @param start `replayed` is called with how far it is, until it is ready; `signal` ends the start
   * @throws EngineThreadError if the store cannot be opened
   */
  static open(
    settings: Omit<EngineThreadData, 'commitCounts' | 'stopAsked'>,
    {
      replayed,
      signal,
    }: { readonly replayed: (report: ReplayReport) => void; readonly signal?: AbortSignal | undefined },
  ): Promise<EngineThread> {
    const stopAsked = new Int32Array(new SharedArrayBuffer(4))
    const stop = () => Atomics.store(stopAsked, 0, 1)
    if (signal?.aborted === true) stop()
    signal?.addEventListener('abort', stop, { once: true })
    const data: EngineThreadData = { ...settings, stopAsked, commitCounts: new CommitCounts().shared }
    const worker = new Worker(new URL('./engine-thread.js', import.meta.url), { workerData: data })
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(new EngineThreadError('Error', String(error)))
      worker.once('error', fail)
      const recounted: Recounted[] = []
      let roomFor: RoomFor = 'everything'
      const opening = (message: FromEngineThread): void => {
        if (message.kind === 'room') {
          roomFor = message.roomFor
          return
        }
        if (message.kind === 'replayed') {
          replayed(message.report)
          return
        }
        if (message.kind === 'recounted') {
          recounted.push(message.found)
          return
        }
        worker.off('message', opening)
        worker.off('error', fail)
        const before = { roomFor, recounted }
        if (message.kind === 'ready') resolve(new EngineThread(worker, message, before, data.commitCounts))
        if (message.kind !== 'failed') return
        void worker.terminate()
        reject(new EngineThreadError(message.error, message.message))
      }
      worker.on('message', opening)
    })
  }

  /** False after the engine has failed. */
  get healthy(): boolean {
    return this.#failure === undefined
  }

  /** Resolves when its event loop answers, between two batches. */
  ask(): Promise<ThreadAnswer> {
    return this.#question.ask()
  }

  /** Calls `listener` once when the engine fails, or at once if it already has. */
  onFailure(listener: (error: EngineThreadError) => void): void {
    this.#onFailure = listener
    if (this.#failure !== undefined) listener(this.#failure)
  }

  /** How long its event loop has been at work since its start. */
  activeMilliseconds(): number {
    return this.#worker.performance.eventLoopUtilization().active
  }

  /** Room in the journal on a disk that may be full. */
  get roomFor(): RoomFor {
    return this.#roomFor
  }

  /** Calls `listener` whenever that changes, and at once when it is not room for everything. */
  onRoomChanged(listener: (roomFor: RoomFor) => void): void {
    this.#onRoomChanged = listener
    if (this.#roomFor !== 'everything') listener(this.#roomFor)
  }

  /** Calls `listener` with counters that were wrong and counted again; for the start's counters at once. */
  onRecounted(listener: (found: Recounted) => void): void {
    this.#onRecounted = listener
    for (const found of this.#recounted.splice(0)) listener(found)
  }

  /** A port to the engine, for the client of one thread. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    const message: ToEngineThread = { kind: 'attach', port: port2 }
    this.#worker.postMessage(message, [port2])
    return port1
  }

  /**
   * Records the clean stop and closes the store. After a failure it keeps the records that came too late for the
   * journal, and returns their number.
   */
  async stop(): Promise<Unrecorded | undefined> {
    const timer = new AbortController()
    const stopped = new Promise<Unrecorded | undefined>((resolve) => {
      this.#worker.on('message', (message: FromEngineThread) => {
        if (message.kind === 'stopped') resolve(message.unrecorded)
      })
      void this.#ended.then(() => resolve(undefined))
    })
    const message: ToEngineThread = { kind: 'stop' }
    this.#worker.postMessage(message)
    // A disk that has failed may not answer at all.
    const late = this.healthy ? [] : [setTimeout(STOP_MILLISECONDS, undefined, { signal: timer.signal })]
    const unrecorded = await Promise.race([stopped, ...late])
    timer.abort()
    await Promise.all([Promise.allSettled(late), this.#worker.terminate()])
    return unrecorded
  }

  #fail(error: EngineThreadError): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#onFailure(error)
  }
}
