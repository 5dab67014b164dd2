import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { makeSnapshot } from './make-snapshot.ts'
import { SteadyPace } from './snapshot-pace.ts'
import type { FromSnapshotThread, SnapshotThreadData } from './snapshot-run.ts'

/** Makes one snapshot. Its memory and the pages that LMDB maps are given back when the thread ends. */

const { root, request, bytesPerSecond, stop } = workerData as SnapshotThreadData

/** Of the scheduler: a thread that serves requests gets ten times as much of a processor. */
const NICE = 10

const send = (message: FromSnapshotThread) => parentPort?.postMessage(message)

/** Linux has a priority for each thread; this one's number is the first field. Who is nicer already may not become less so. */
const thread = Number.parseInt(readFileSync('/proc/thread-self/stat', 'latin1'), 10)
if (getPriority(thread) < NICE) setPriority(thread, NICE)

try {
  const paths = new StorePaths(root)
  send({ kind: 'made', made: await makeSnapshot(nodeDisk, paths, request, new SteadyPace(bytesPerSecond, stop)) })
} catch (error) {
  const { name, message } = error as Error
  send({ kind: 'failed', name, message })
}
