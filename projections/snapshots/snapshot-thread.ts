import { parentPort, workerData } from 'node:worker_threads'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { threadFailure } from '../background-thread.ts'
import { BACKGROUND_NICE, lowerPriority } from '../../engine/thread-priority.ts'
import { makeSnapshot } from './make-snapshot.ts'
import { SteadyPace } from './snapshot-pace.ts'
import type { FromSnapshotThread, SnapshotThreadData } from './snapshot-run.ts'

/** Makes one snapshot. Its memory and the pages that LMDB maps are given back when the thread ends. */

const { root, request, bytesPerSecond, stop } = workerData as SnapshotThreadData

const send = (message: FromSnapshotThread) => parentPort?.postMessage(message)

lowerPriority(BACKGROUND_NICE)

try {
  const paths = new StorePaths(root)
  send({ kind: 'made', made: await makeSnapshot(nodeDisk, paths, request, new SteadyPace(bytesPerSecond, stop)) })
} catch (error) {
  send(threadFailure(error as Error))
}
