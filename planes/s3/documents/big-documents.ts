import { Worker } from 'node:worker_threads'
import { Shares } from '../../../engine/shares/shares.ts'
import { ClientGoneError, type HttpRequest } from '../../http/exchange.ts'
import { S3Error } from '../errors/s3-errors.ts'
import type { DocumentAnswer, DocumentJob } from './document-readers.ts'

const PROGRAM = new URL('./document-thread.js', import.meta.url)
/** The thread ends so long after its last document, which frees its memory. */
const IDLE_MILLISECONDS = 10_000
/** A document takes less than a second of processor time; a thread that needs longer than this hangs. */
const READ_MILLISECONDS_MAXIMUM = 60_000
/** The largest document takes some 100 MiB while it is read. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 } as const

interface BigDocumentsOptions {
  /** What the thread runs. */
  readonly program?: URL
  readonly idleMilliseconds?: number
  readonly readMillisecondsMaximum?: number
}

interface Reading {
  readonly resolve: (answer: DocumentAnswer) => void
  readonly reject: (error: Error) => void
}

/**
 * Reads big documents in a thread, so that the event loop can answer other requests meanwhile. The thread reads one document
 * at a time; accounts take turns. It is started for the first document, and ends when idle. If it fails or hangs, the request
 * fails whose document it was reading, and the next document gets a new thread (decision 0190).
 */
export class BigDocuments {
  readonly #shares: Shares
  readonly #program: URL
  readonly #idleMilliseconds: number
  readonly #readMillisecondsMaximum: number
  #worker: Worker | undefined
  #reading: Reading | undefined
  /** Of the document that is read, or until the thread is ended as idle. */
  #timer: NodeJS.Timeout | undefined

  /** @param options for specs */
  constructor(options: BigDocumentsOptions = {}) {
    this.#shares = new Shares('big-documents')
    this.#program = options.program ?? PROGRAM
    this.#idleMilliseconds = options.idleMilliseconds ?? IDLE_MILLISECONDS
    this.#readMillisecondsMaximum = options.readMillisecondsMaximum ?? READ_MILLISECONDS_MAXIMUM
  }

  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /**
   * @param account whose share it is
   * @throws BusyError, S3Error of the reader, ClientGoneError (the client left before the turn of its document), Error (the
   *   thread failed)
   */
  async read(account: string, http: Pick<HttpRequest, 'onAborted'>, job: DocumentJob): Promise<unknown> {
    let isGone = false
    http.onAborted(() => {
      isGone = true
    })
    const answer = await this.#shares.run(account, () => {
      if (isGone) throw new ClientGoneError('The client left before its document was read')
      return this.#ask(job)
    })
    if ('value' in answer) return answer.value
    const { code, message, details } = answer.refusal
    throw new S3Error(code, { message, details })
  }

  /** Ends the thread; the read of a document then fails. */
  end(): void {
    this.#fail('was ended')
  }

  async #ask(job: DocumentJob): Promise<DocumentAnswer> {
    // A copy in memory of its own, which can be transferred.
    const body = Uint8Array.from(job.body)
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    try {
      return await new Promise<DocumentAnswer>((resolve, reject) => {
        this.#reading = { resolve, reject }
        this.#after(this.#readMillisecondsMaximum, 'hangs')
        worker.postMessage({ ...job, body }, [body.buffer])
      })
    } finally {
      this.#reading = undefined
      worker.unref()
      this.#after(this.#idleMilliseconds, 'was idle')
    }
  }

  /** Ends the thread when this is not called again before. */
  #after(milliseconds: number, why: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#fail(why), milliseconds).unref()
  }

  #start(): Worker {
    const worker = new Worker(this.#program, { resourceLimits: MEMORY })
    // What an ended thread had sent before may arrive later, when another document is being read.
    const isCurrent = () => worker === this.#worker
    worker.on('message', (answer: DocumentAnswer) => {
      if (isCurrent()) this.#reading?.resolve(answer)
    })
    const fail = (why: string) => {
      if (isCurrent()) this.#fail(why)
    }
    const failed = (error: unknown) => fail(`failed: ${error instanceof Error ? error.message : String(error)}`)
    worker.on('error', failed)
    worker.on('messageerror', failed)
    worker.on('exit', () => fail('ended'))
    return worker
  }

  #fail(why: string): void {
    clearTimeout(this.#timer)
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
    this.#reading?.reject(new Error(`the thread that reads documents ${why}`))
  }
}

/** The reader of the calling thread. */
export const bigDocuments = new BigDocuments()
