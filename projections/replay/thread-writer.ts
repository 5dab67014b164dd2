import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { DiskFullError, ShortWriteError } from '../../engine/disk/disk.ts'
import { RowDamagedError, StartStoppedError } from '../../engine/errors.ts'
import { giveBackMemory } from '../../engine/give-back-memory.ts'
import type { RowsWriter } from '../apply/buffered-tables.ts'
import type { Lot } from '../apply/kept-lot.ts'
import type { HeldTable } from '../apply/write-held.ts'
import { YOUNG_LIMIT } from '../background-thread.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'

export type ToWritingThread = { readonly kind: 'write'; readonly lot: Lot } | { readonly kind: 'end' }

export type FromWritingThread =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'failed'
      readonly name: string
      readonly message: string
      readonly code: unknown
      /** A row that was found damaged, as in a RowDamagedError. */
      readonly row: { readonly table: string; readonly key: string } | undefined
    }

/** A thread that commits nothing for this long is dead. */
const SILENCE_MILLISECONDS_MAXIMUM = 60_000

interface WriterOptions {
  /** Whether the lot that is being written is kept in a file, so that a process that is killed loses nothing of it. */
  readonly keepsLots?: boolean
  /** Asked after each commit: whether to stop in the middle of a lot that is kept. Half of another one would be worth nothing. */
  readonly stopAsked?: (() => boolean) | undefined
}

/** Another thread writes rows to LMDB, so that this one can go on. It waits for that one synchronously. */
export class ThreadWriter implements RowsWriter {
  readonly #port: MessagePort
  readonly #worker: Worker
  readonly #damaged: ProjectionEnvironment['damaged']
  /** state[0] changes with each commit and each message of the thread; state[1] is 1 when it is to stop between two commits. */
  readonly #state = new Int32Array(new SharedArrayBuffer(8))
  readonly #stopAsked: WriterOptions['stopAsked']
  /** Messages that the thread has not answered. */
  #pending = 0

  /**
   * @param environment that is open in this thread; its `damaged` gets a row that the other thread finds damaged
   */
  constructor(
    { directory, damaged }: Pick<ProjectionEnvironment, 'directory' | 'damaged'>,
    options: WriterOptions = {},
  ) {
    this.#damaged = damaged
    this.#stopAsked = options.keepsLots === true ? options.stopAsked : undefined
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(new URL('./writing-thread.js', import.meta.url), {
      workerData: { directory, keepsLots: options.keepsLots === true, port: port2, state: this.#state },
      transferList: [port2],
      resourceLimits: YOUNG_LIMIT,
    })
  }

  begin(held: readonly HeldTable[], seal?: Uint8Array): void {
    const tables = held.map((table) => ({ name: table.name, held: table.held.shared }))
    this.#send({ kind: 'write', lot: { tables, seal } })
    // V8 would let garbage of a long replay grow to more than the rows that are held.
    giveBackMemory()
  }

  wait(): void {
    while (this.#pending > 0) {
      const message = this.#take()
      if (message.kind === 'failed') throw this.#failure(message)
    }
  }

  /** Ends the thread when it has written what it has started. `wait` reports the result. */
  end(): void {
    try {
      while (this.#pending > 0) this.#take()
      this.#send({ kind: 'end' })
      this.#take()
    } finally {
      this.#port.close()
      void this.#worker.terminate()
    }
  }

  #send(message: ToWritingThread): void {
    this.#port.postMessage(message)
    this.#pending += 1
  }

  #take(): FromWritingThread {
    for (;;) {
      if (this.#stopAsked?.() === true) Atomics.store(this.#state, 1, 1)
      const seen = Atomics.load(this.#state, 0)
      const received = receiveMessageOnPort(this.#port) as { message: FromWritingThread } | undefined
      if (received !== undefined) {
        this.#pending -= 1
        return received.message
      }
      if (Atomics.wait(this.#state, 0, seen, SILENCE_MILLISECONDS_MAXIMUM) === 'timed-out') {
        throw new Error('the thread that writes the projections does not answer')
      }
    }
  }

  #failure({ name, message, code, row }: FromWritingThread & { readonly kind: 'failed' }): Error {
    if (this.#stopAsked?.() === true) return new StartStoppedError()
    if (name === 'DiskFullError') return new DiskFullError(message)
    if (name === 'ShortWriteError') return new ShortWriteError(message)
    if (row === undefined) return Object.assign(new Error(message), { name, code })
    const error = new RowDamagedError(row.table, row.key)
    this.#damaged(error)
    return error
  }
}
