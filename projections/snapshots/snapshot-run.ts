import { Worker } from 'node:worker_threads'
import type { MadeSnapshot, SnapshotRequest } from './make-snapshot.ts'
import { SnapshotStoppedError } from './snapshot-pace.ts'

/** Start data of the thread that makes a snapshot. */
export interface SnapshotThreadData {
  /** The data directory. */
  readonly root: string
  readonly request: SnapshotRequest
  readonly bytesPerSecond: number
  /** One number, which is not 0 when it must stop. */
  readonly stop: Int32Array
}

export type FromSnapshotThread =
  | { readonly kind: 'made'; readonly made: MadeSnapshot | undefined }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string }

/** Making a snapshot failed in its thread; `reason` is the name of the error's class there. */
class SnapshotFailedError extends Error {
  override readonly name = 'SnapshotFailedError'
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** A snapshot that is being made. */
export interface SnapshotRun {
  /** @throws SnapshotStoppedError, SnapshotFailedError */
  readonly ended: Promise<MadeSnapshot | undefined>
  /** Ends it soon; `ended` says when. */
  stop(): void
}

/** Of the thread's garbage: with what is usual, it would hold as much memory as the whole server. */
const YOUNG_MEBIBYTES = 8

/** Makes a snapshot in a thread of its own, at a bounded rate. */
export function runSnapshot(root: string, request: SnapshotRequest, bytesPerSecond: number): SnapshotRun {
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const data: SnapshotThreadData = { root, request, bytesPerSecond, stop }
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MEBIBYTES }
  const worker = new Worker(new URL('./snapshot-thread.js', import.meta.url), { workerData: data, resourceLimits })
  return {
    ended: endOf(worker),
    stop: () => {
      Atomics.store(stop, 0, 1)
      Atomics.notify(stop, 0)
    },
  }
}

/** Resolves when the thread is gone, so that nobody else has its files open. */
function endOf(worker: Worker): Promise<MadeSnapshot | undefined> {
  return new Promise((resolve, reject) => {
    let last: FromSnapshotThread = { kind: 'failed', name: 'Error', message: 'its thread ended without an answer' }
    worker.on('message', (message: FromSnapshotThread) => {
      last = message
    })
    worker.once('error', (error) => {
      last = { kind: 'failed', name: error.name, message: error.message }
    })
    worker.once('exit', () => {
      if (last.kind === 'made') resolve(last.made)
      else if (last.name === 'SnapshotStoppedError') reject(new SnapshotStoppedError())
      else reject(new SnapshotFailedError(last.name, last.message))
    })
  })
}
