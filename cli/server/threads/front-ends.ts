import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { HashThreads } from '../../../engine/hashing/hash-threads.ts'
import { forgetThread } from '../../../planes/http/limits/gate-memory.ts'
import type { Logger } from '../log/logger.ts'
import { claimPort } from './claim-port.ts'
import type { EngineThread } from './engine-thread-handle.ts'
import { type ThreadAnswer, ThreadQuestion } from './thread-question.ts'
import type { FromFrontEnd, FrontEndThreadData, ToFrontEnd } from './thread-messages.ts'

/** The settings that all front ends share. */
export type FrontEndSettings = Omit<FrontEndThreadData, 'thread' | 'port' | 'hashing' | 'listenPort' | 'isAlone'>

/** A thread that has not ended this long after its grace period is stuck. */
const STUCK_MILLISECONDS = 5000

interface FrontEnd {
  /** As in its log lines. */
  readonly name: string
  readonly worker: Worker
  readonly question: ThreadQuestion
  readonly stopped: Promise<void>
}

/** The front ends of a server. They share a port; the kernel distributes connections among them. */
export class FrontEnds {
  readonly #members: FrontEnd[] = []
  readonly #onFailure: (message: string) => void
  readonly #log: Logger
  #stopping = false
  #port = 0

  constructor(log: Logger, onFailure: (message: string) => void) {
    this.#log = log
    this.#onFailure = onFailure
  }

  /** Port they listen on. */
  get port(): number {
    return this.#port
  }

  /** Each with the time that its event loop has been at work since its start. `ask` resolves when the event loop answers. */
  get threads(): readonly {
    readonly name: string
    readonly activeMilliseconds: () => number
    readonly ask: () => Promise<ThreadAnswer>
  }[] {
    return this.#members.map(({ name, worker, question }) => {
      const activeMilliseconds = () => worker.performance.eventLoopUtilization().active
      return { name, activeMilliseconds, ask: () => question.ask() }
    })
  }

  /**
   * Starts them one after the other.
   * @throws Error if one cannot listen
   */
  async start(
    settings: FrontEndSettings,
    listenPort: number,
    count: number,
    engine: EngineThread,
    hashing: HashThreads,
  ): Promise<void> {
    this.#port = await claimPort(settings.host, listenPort)
    const isAlone = count === 1
    for (let thread = 0; thread < count; thread += 1) {
      const connected = { port: engine.connect(), hashing: hashing.connect() }
      const data = { ...settings, ...connected, thread, listenPort: this.#port, isAlone }
      await this.#startOne(data, () => hashing.start())
    }
  }

  /**
   * Makes each of them read the certificate again. Must not be called again before it is done.
   * @returns whether any serves a new one
   * @throws Error if one could not replace it and keeps the old one
   */
  async reload(): Promise<boolean> {
    const answers = await Promise.all(this.#members.map(reloadOne))
    const problems = new Set(answers.flatMap(({ problem }) => problem ?? []))
    if (problems.size > 0) throw new Error([...problems].join('; '))
    return answers.some(({ changed }) => changed)
  }

  /**
   * Lets requests in progress finish within the grace period; resolves when every thread has ended.
   * @returns threads that did not end: they are stuck, and cannot be ended without the process
   */
  async stop(graceMilliseconds: number): Promise<readonly string[]> {
    this.#stopping = true
    const message: ToFrontEnd = { kind: 'stop', graceMilliseconds }
    for (const { worker } of this.#members) worker.postMessage(message)
    const ending = new AbortController()
    const late = pause(graceMilliseconds + STUCK_MILLISECONDS, undefined, { signal: ending.signal }).catch(() => {})
    const running = new Set(this.#members.map(({ name }) => name))
    const stopped = this.#members.map(({ name, stopped: one }) => one.then(() => running.delete(name)))
    await Promise.race([Promise.all(stopped), late])
    ending.abort()
    return [...running]
  }

  #startOne(data: FrontEndThreadData, startHashing: () => void): Promise<void> {
    const worker = new Worker(new URL('./front-end-thread.js', import.meta.url), {
      workerData: data,
      transferList: [data.port, ...data.hashing.md5, ...data.hashing.sha256],
    })
    const question = new ThreadQuestion(worker)
    const stopped = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    worker.once('exit', () => forgetThread(data.gate, data.thread))
    this.#members.push({ name: `front-end-${data.thread}`, worker, question, stopped })
    return new Promise((resolve, reject) => {
      let ready = false
      const fail = (message: string) => {
        if (!ready) reject(new Error(message))
        else if (!this.#stopping) this.#onFailure(message)
      }
      worker.on('message', (message: FromFrontEnd) => {
        if (message.kind === 'answered') question.answered(message)
        if (message.kind === 'failed') fail(message.message)
        if (message.kind === 'hash') startHashing()
        if (message.kind !== 'ready') return
        ready = true
        this.#port = message.port
        this.#log.debug({ thread: data.thread, port: message.port }, 'a front end listens')
        resolve()
      })
      worker.on('error', (error) => fail(error instanceof Error ? error.message : String(error)))
      worker.on('exit', () => fail('a front end ended'))
    })
  }
}

type Reloaded = Extract<FromFrontEnd, { kind: 'reloaded' }>

/** The answer of a front end; unchanged if it ends instead. */
function reloadOne({ worker, stopped }: FrontEnd): Promise<Reloaded> {
  return new Promise((resolve) => {
    const onMessage = (answer: FromFrontEnd): void => {
      if (answer.kind === 'reloaded') done(answer)
    }
    const done = (answer: Reloaded): void => {
      worker.off('message', onMessage)
      resolve(answer)
    }
    void stopped.then(() => done({ kind: 'reloaded', changed: false }))
    worker.on('message', onMessage)
    const message: ToFrontEnd = { kind: 'reload' }
    worker.postMessage(message)
  })
}
