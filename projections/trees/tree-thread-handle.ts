import { Worker } from 'node:worker_threads'
import type { JournalLimit } from './grow-trees.ts'

/** Two roots over the same records. */
export interface TreeRoots {
  readonly size: number
  readonly root: Uint8Array
  readonly bundleRoot: Uint8Array
}

/** What the thread is asked for. */
export interface TreeRequest {
  /** The trees grow up to here. */
  readonly limit: JournalLimit
  /** Whether a checkpoint is due: then the roots are computed, and held against those of the checkpoint before. */
  readonly isDue: boolean
  readonly previous: TreeRoots | undefined
  /** Records whose hashes the caller wants. */
  readonly wanted: readonly number[]
}

/** Where the trees are. `roots`: of a checkpoint that is due, once they have come to the limit. */
export interface TreeReport {
  readonly size: number
  readonly isAtLimit: boolean
  /** Why they were made anew, if they were. */
  readonly discarded: string | undefined
  readonly due:
    | { readonly roots: TreeRoots; readonly extendsPrevious: boolean; readonly hashes: readonly Uint8Array[] }
    | undefined
}

export type FromTreeThread =
  | { readonly kind: 'report'; readonly report: TreeReport }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string }

/** The thread of the trees failed: the journal cannot be read, or the disk not be written. */
class TreeThreadError extends Error {
  override readonly name = 'TreeThreadError'
  /** Name of the error's class there. */
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Of the thread's garbage: with what is usual, it would hold as much memory as the whole server. */
const YOUNG_MEBIBYTES = 8

/** The thread that makes the trees. It begins with the first request, and answers one at a time. */
export class TreeThread {
  readonly #root: string
  #worker: Worker | undefined
  #ended: Promise<void> = Promise.resolve()

  /** @param root the data directory */
  constructor(root: string) {
    this.#root = root
  }

  /** @throws TreeThreadError */
  ask(request: TreeRequest): Promise<TreeReport> {
    const worker = this.#worker ?? this.#start()
    return new Promise((resolve, reject) => {
      const over = (work: () => void) => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        work()
      }
      const onMessage = (message: FromTreeThread) =>
        over(() =>
          message.kind === 'report'
            ? resolve(message.report)
            : reject(new TreeThreadError(message.name, message.message)),
        )
      const onError = (error: Error) => over(() => reject(new TreeThreadError(error.name, error.message)))
      const onExit = () => over(() => reject(new TreeThreadError('Error', 'its thread ended without an answer')))
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
    const worker = new Worker(new URL('./tree-thread.js', import.meta.url), {
      workerData: this.#root,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEBIBYTES },
    })
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
