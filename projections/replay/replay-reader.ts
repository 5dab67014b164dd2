import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Sequence } from '../../engine/brands.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { YOUNG_LIMIT } from '../background-thread.ts'
import type { ReplayChunk } from './replay-chunk.ts'

export type FromReplayThread =
  | { readonly kind: 'chunk'; readonly chunk: ReplayChunk }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string }

/** A thread that sends nothing for this long is dead. */
const SILENCE_MILLISECONDS_MAXIMUM = 60_000

/**
 * Another thread reads and verifies the journal; this one emits its chunks in order. It waits for them synchronously:
 * replay is one step of opening a store.
 * @param before as of `readJournal`
 * @throws JournalDamagedError
 */
export function readChunksInThread(
  paths: StorePaths,
  from: AppliedPosition | undefined,
  emit: (chunk: ReplayChunk) => void,
  before?: Sequence,
): void {
  const { port1, port2 } = new MessageChannel()
  // state[0] counts the messages sent, state[1] those received.
  const state = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(new URL('./replay-thread.js', import.meta.url), {
    workerData: { root: paths.root, from, before, port: port2, state },
    transferList: [port2],
    resourceLimits: YOUNG_LIMIT,
  })
  try {
    for (;;) {
      const message = take(port1, state)
      if (message.kind === 'end') return
      if (message.kind === 'failed') throw failure(message)
      emit(message.chunk)
    }
  } finally {
    port1.close()
    void worker.terminate()
  }
}

function take(port: MessageChannel['port1'], state: Int32Array): FromReplayThread {
  for (;;) {
    const sent = Atomics.load(state, 0)
    const received = receiveMessageOnPort(port) as { message: FromReplayThread } | undefined
    if (received !== undefined) {
      Atomics.add(state, 1, 1)
      Atomics.notify(state, 1)
      return received.message
    }
    if (Atomics.wait(state, 0, sent, SILENCE_MILLISECONDS_MAXIMUM) === 'timed-out') {
      throw new Error('the thread that reads the journal does not answer')
    }
  }
}

function failure({ name, message }: { name: string; message: string }): Error {
  return name === 'JournalDamagedError' ? new JournalDamagedError(message) : new Error(message)
}
