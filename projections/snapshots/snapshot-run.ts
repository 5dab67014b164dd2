import type { Worker } from 'node:worker_threads'
import {
  BackgroundThreadError,
  NO_ANSWER,
  startBackgroundThread,
  type ThreadFailure,
  threadFailure,
} from '../background-thread.ts'
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

export type FromSnapshotThread = { readonly kind: 'made'; readonly made: MadeSnapshot | undefined } | ThreadFailure

/** A snapshot that is being made. */
export interface SnapshotRun {
  /** @throws SnapshotStoppedError, BackgroundThreadError */
  readonly ended: Promise<MadeSnapshot | undefined>
  /** Ends it soon; `ended` resolves then. */
  stop(): void
}

/** Makes a snapshot in a separate thread, at a bounded rate. */
export function runSnapshot(root: string, request: SnapshotRequest, bytesPerSecond: number): SnapshotRun {
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const data: SnapshotThreadData = { root, request, bytesPerSecond, stop }
  const worker = startBackgroundThread(new URL('./snapshot-thread.js', import.meta.url), data)
  return {
    ended: endOf(worker),
    stop: () => {
      Atomics.store(stop, 0, 1)
      Atomics.notify(stop, 0)
    },
  }
}

/** Resolves when the thread is gone and has closed its files. */
function endOf(worker: Worker): Promise<MadeSnapshot | undefined> {
  return new Promise((resolve, reject) => {
    let last: FromSnapshotThread = NO_ANSWER
    worker.on('message', (message: FromSnapshotThread) => {
      last = message
    })
    worker.once('error', (error) => {
      last = threadFailure(error)
    })
    worker.once('exit', () => {
      if (last.kind === 'made') resolve(last.made)
      else if (last.name === 'SnapshotStoppedError') reject(new SnapshotStoppedError())
      else reject(new BackgroundThreadError(last))
    })
  })
}
