import type { Worker } from 'node:worker_threads'
import { BackgroundThreadError, NO_ANSWER, startBackgroundThread, type ThreadFailure } from '../background-thread.ts'
import type { JournalLimit } from './grow-trees.ts'
import type { MendReport } from './mend-trees.ts'

/** Two roots over the same records. */
export interface TreeRoots {
  readonly size: number
  readonly root: Uint8Array
  readonly bundleRoot: Uint8Array
}

/** A request to the thread. */
export interface TreeRequest {
  /** The trees grow up to here. */
  readonly limit: JournalLimit
  /** Whether a checkpoint is due: then the roots are computed, and compared with the previous checkpoint's. */
  readonly isDue: boolean
  readonly previous: TreeRoots | undefined
  /** Records whose hashes the caller wants. */
  readonly wanted: readonly number[]
  /** Whether the trees are compared with the journal, and mended: a piece of it, besides the rest. */
  readonly mends: boolean
}

/** How far the trees are. `roots`: of a checkpoint that is due, once they have reached the limit. */
export interface TreeReport {
  readonly size: number
  readonly isAtLimit: boolean
  /** Why the trees started over, if they did. */
  readonly discarded: string | undefined
  /** When a comparison with the journal has ended. */
  readonly mended: MendReport | undefined
  readonly due:
    | { readonly roots: TreeRoots; readonly extendsPrevious: boolean; readonly hashes: readonly Uint8Array[] }
    | undefined
}

export type FromTreeThread = { readonly kind: 'report'; readonly report: TreeReport } | ThreadFailure

/** The thread that makes the trees. It starts with the first request, and answers one at a time. */
export class TreeThread {
  readonly #root: string
  #worker: Worker | undefined
  #ended: Promise<void> = Promise.resolve()

  /** @param root the data directory */
  constructor(root: string) {
    this.#root = root
  }

  /** @throws BackgroundThreadError when the journal cannot be read, or the disk not be written */
  ask(request: TreeRequest): Promise<TreeReport> {
    const worker = this.#worker ?? this.#start()
    return new Promise((resolve, reject) => {
      const over = (work: () => void) => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        work()
      }
      const onMessage = (message: FromTreeThread) =>
        over(() => (message.kind === 'report' ? resolve(message.report) : reject(new BackgroundThreadError(message))))
      const onError = (error: Error) => over(() => reject(new BackgroundThreadError(error)))
      const onExit = () => over(() => reject(new BackgroundThreadError(NO_ANSWER)))
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(request)
    })
  }

  /** Ends the thread after its last request, with its files synced: a clean stop keeps the projections. */
  async close(): Promise<void> {
    this.#worker?.postMessage('close')
    await this.#ended
  }

  #start(): Worker {
    const worker = startBackgroundThread(new URL('./tree-thread.js', import.meta.url), this.#root)
    this.#worker = worker
    this.#ended = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#worker = undefined
        resolve()
      })
    })
    return worker
  }
}
