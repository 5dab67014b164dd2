import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { RowDamagedError } from '../../engine/errors.ts'
import type { RowsWriter } from '../apply/buffered-tables.ts'
import type { HeldBytes } from '../apply/held-rows.ts'
import type { HeldTable } from '../apply/write-held.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'

export type ToWritingThread =
  | { readonly kind: 'write'; readonly tables: readonly HeldTable<HeldBytes>[] }
  | { readonly kind: 'end' }

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

/** Another thread writes rows to LMDB, so that this one can go on. It waits for that one synchronously. */
export class ThreadWriter implements RowsWriter {
  readonly #port: MessagePort
  readonly #worker: Worker
  readonly #damaged: ProjectionEnvironment['damaged']
  /** state[0] changes with each commit and each message of the thread. */
  readonly #state = new Int32Array(new SharedArrayBuffer(4))
  /** Messages that the thread has not answered. */
  #pending = 0

  /** @param environment that is open in this thread; its `damaged` gets a row that the other thread finds damaged */
  constructor({ directory, damaged }: Pick<ProjectionEnvironment, 'directory' | 'damaged'>) {
    this.#damaged = damaged
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(new URL('./writing-thread.js', import.meta.url), {
      workerData: { directory, port: port2, state: this.#state },
      transferList: [port2],
    })
  }

  begin(held: readonly HeldTable[]): void {
    const tables = held.map((table) => ({ name: table.name, held: table.held.copy() }))
    this.#send(
      { kind: 'write', tables },
      tables.flatMap((table) => [table.held.bytes.buffer, table.held.fields.buffer]),
    )
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

  #send(message: ToWritingThread, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer)
    this.#pending += 1
  }

  #take(): FromWritingThread {
    for (;;) {
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
    if (row === undefined) return Object.assign(new Error(message), { name, code })
    const error = new RowDamagedError(row.table, row.key)
    this.#damaged(error)
    return error
  }
}
