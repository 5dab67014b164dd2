import { parentPort, workerData } from 'node:worker_threads'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { threadFailure } from '../background-thread.ts'
import { BACKGROUND_NICE, lowerPriority } from '../../engine/thread-priority.ts'
import { answerTreeRequest, openTrees } from './answer-tree-request.ts'
import type { FromTreeThread, TreeRequest } from './tree-thread-handle.ts'

/** Makes the trees outside the engine's thread, whose turn must never wait for a hash. */

lowerPriority(BACKGROUND_NICE)
const paths = new StorePaths(workerData as string)
const opened = openTrees(nodeDisk, paths)

const send = (message: FromTreeThread) => parentPort?.postMessage(message)

parentPort?.on('message', (request: TreeRequest | 'close') => {
  if (request === 'close') {
    opened.trees.sync()
    opened.trees.close()
    parentPort?.close()
    return
  }
  try {
    send({ kind: 'report', report: answerTreeRequest(opened, request) })
  } catch (error) {
    send(threadFailure(error as Error))
  }
})
