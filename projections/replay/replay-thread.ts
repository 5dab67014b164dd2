import { type MessagePort, workerData } from 'node:worker_threads'
import type { Sequence } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { readChunks, type ReplayChunk } from './replay-chunk.ts'
import type { FromReplayThread } from './replay-reader.ts'

/** Reads and verifies the journal while the parent thread applies the chunks before. */

const { root, from, before, port, state } = workerData as {
  readonly root: string
  readonly from: AppliedPosition | undefined
  readonly before: Sequence | undefined
  readonly port: MessagePort
  readonly state: Int32Array
}

function send(message: FromReplayThread, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
  Atomics.add(state, 0, 1)
  Atomics.notify(state, 0)
}

const CHUNKS_AHEAD_MAXIMUM = 6
let sent = 0

try {
  const emit = (chunk: ReplayChunk) => {
    // state[1] counts the chunks received; too far ahead, this thread sleeps until the next one is.
    for (;;) {
      const taken = Atomics.load(state, 1)
      if (sent - taken < CHUNKS_AHEAD_MAXIMUM) break
      Atomics.wait(state, 1, taken)
    }
    sent += 1
    const { bodies, changes, batches, heads } = chunk
    send({ kind: 'chunk', chunk }, [bodies.buffer, changes.buffer, batches.buffer, heads.buffer])
  }
  readChunks(nodeDisk, new StorePaths(root), from, emit, before)
  send({ kind: 'end' })
} catch (error) {
  const { name, message } = error as Error
  send({ kind: 'failed', name, message })
}
