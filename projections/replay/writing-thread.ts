import { type MessagePort, workerData } from 'node:worker_threads'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { RowDamagedError, StartStoppedError } from '../../engine/errors.ts'
import { giveBackMemory } from '../../engine/give-back-memory.ts'
import { writeLot } from '../apply/kept-lot.ts'
import { ProjectionEnvironment } from '../lmdb-environment.ts'
import type { FromWritingThread, ToWritingThread } from './thread-writer.ts'

/** Writes rows to LMDB while the parent thread applies the entries after them. */

const { directory, keepsLots, port, state } = workerData as {
  readonly directory: string
  readonly keepsLots: boolean
  readonly port: MessagePort
  readonly state: Int32Array
}

let environment: ProjectionEnvironment | undefined

function tell(message: FromWritingThread): void {
  port.postMessage(message)
  progress()
}

/** The parent waits for this number to change. */
function progress(): void {
  Atomics.add(state, 0, 1)
  Atomics.notify(state, 0)
}

/** Ends the lot between two commits. */
function committed(): void {
  progress()
  if (Atomics.load(state, 1) === 1) throw new StartStoppedError()
}

async function handle(message: ToWritingThread): Promise<void> {
  if (message.kind === 'end') {
    await environment?.close()
    tell({ kind: 'done' })
    return port.close()
  }
  environment ??= ProjectionEnvironment.open(directory, { readOnly: false })
  writeLot(keepsLots ? nodeDisk : undefined, environment, message.lot, committed)
  tell({ kind: 'done' })
  giveBackMemory()
}

port.on('message', (message: ToWritingThread) => {
  handle(message).catch((error: Error & { readonly code?: unknown }) => {
    // The class does not cross threads.
    const row = error instanceof RowDamagedError ? { table: error.table, key: error.key } : undefined
    tell({ kind: 'failed', name: error.name, message: error.message, code: error.code, row })
  })
})
