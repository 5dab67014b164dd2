import { type MessagePort, workerData } from 'node:worker_threads'
import { RowDamagedError } from '../../engine/errors.ts'
import { HeldRows } from '../apply/held-rows.ts'
import { writeHeld } from '../apply/write-held.ts'
import { ProjectionEnvironment } from '../lmdb-environment.ts'
import { openTables } from '../tables/table-list.ts'
import type { FromWritingThread, ToWritingThread } from './thread-writer.ts'

/** Writes rows to LMDB while the parent thread applies the entries after them. */

const { directory, port, state } = workerData as {
  readonly directory: string
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

async function handle(message: ToWritingThread): Promise<void> {
  if (message.kind === 'end') {
    await environment?.close()
    tell({ kind: 'done' })
    return port.close()
  }
  const held = message.tables.map(({ name, held: bytes }) => ({ name, held: HeldRows.of(bytes) }))
  environment ??= ProjectionEnvironment.open(directory, { readOnly: false })
  writeHeld(environment, openTables(environment), held, progress)
  tell({ kind: 'done' })
}

port.on('message', (message: ToWritingThread) => {
  handle(message).catch((error: Error & { readonly code?: unknown }) => {
    // The class does not cross threads.
    const row = error instanceof RowDamagedError ? { table: error.table, key: error.key } : undefined
    tell({ kind: 'failed', name: error.name, message: error.message, code: error.code, row })
  })
})
