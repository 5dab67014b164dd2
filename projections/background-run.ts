import { parentPort, workerData } from 'node:worker_threads'
import { StorePaths } from '../engine/disk/store-paths.ts'
import { BACKGROUND_NICE, lowerPriority } from '../engine/thread-priority.ts'
import {
  BackgroundThreadError,
  NO_ANSWER,
  startBackgroundThread,
  type ThreadFailure,
  threadFailure,
} from './background-thread.ts'
import { type Pace, SteadyPace, WorkStoppedError } from './steady-pace.ts'

/** Start data of a thread that makes one thing at a bounded rate. */
interface RunData<Task> {
  /** The data directory. */
  readonly root: string
  readonly task: Task
  /** Of what is read and written. */
  readonly bytesPerSecond: number
  /** One number, which is not 0 when it must stop. */
  readonly stop: Int32Array
}

type FromThread<Made> = { readonly kind: 'made'; readonly made: Made | undefined } | ThreadFailure

/** One thing that is being made in a thread of its own. */
export interface BackgroundRun<Made> {
  /** Resolves when the thread is gone and has closed its files. @throws WorkStoppedError, BackgroundThreadError */
  readonly ended: Promise<Made | undefined>
  /** Ends it soon; `ended` rejects then. */
  stop(): void
}

/**
 * Starts a thread of the lowest priority.
 * @param file the module of the thread, which calls `serveRun`, as it is in the build
 */
export function startRun<Task, Made>(file: URL, root: string, task: Task, bytesPerSecond: number): BackgroundRun<Made> {
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const data: RunData<Task> = { root, task, bytesPerSecond, stop }
  const worker = startBackgroundThread(file, data)
  const ended = new Promise<Made | undefined>((resolve, reject) => {
    let last: FromThread<Made> = NO_ANSWER
    worker.on('message', (message: FromThread<Made>) => {
      last = message
    })
    worker.once('error', (error) => {
      last = threadFailure(error)
    })
    worker.once('exit', () => {
      if (last.kind === 'made') resolve(last.made)
      else reject(last.name === 'WorkStoppedError' ? new WorkStoppedError() : new BackgroundThreadError(last))
    })
  })
  return {
    ended,
    stop: () => {
      Atomics.store(stop, 0, 1)
      Atomics.notify(stop, 0)
    },
  }
}

/** In the thread: makes the one thing, and ends. Its memory and the pages that LMDB maps are given back then. */
export async function serveRun<Task, Made>(
  make: (paths: StorePaths, task: Task, pace: Pace) => Made | undefined | Promise<Made | undefined>,
): Promise<void> {
  const { root, task, bytesPerSecond, stop } = workerData as RunData<Task>
  const send = (message: FromThread<Made>) => parentPort?.postMessage(message)
  lowerPriority(BACKGROUND_NICE)
  try {
    send({ kind: 'made', made: await make(new StorePaths(root), task, new SteadyPace(bytesPerSecond, stop)) })
  } catch (error) {
    send(threadFailure(error as Error))
  }
}
