/**
 * Loaded before the program by every thread of a server (NODE_OPTIONS=--import): while the file that STUCK_FILE names
 * holds the name of this thread, its event loop does not turn.
 */
import { readFileSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

const file = process.env.STUCK_FILE
const name = workerData?.listenPort === undefined ? 'engine' : `front-end-${workerData.thread}`
const isMeant = !isMainThread && (workerData?.listenPort !== undefined || workerData?.dataDirectory !== undefined)

function isStuck() {
  try {
    return readFileSync(file, 'utf8') === name
  } catch {
    return false
  }
}

if (file !== undefined && isMeant) {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  setInterval(() => {
    while (isStuck()) Atomics.wait(pause, 0, 0, 20)
  }, 20).unref()
}
