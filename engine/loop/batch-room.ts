import type { BatchBuilder } from '../journal/batch-builder.ts'
import { RECORD_BODY_BYTES_MAXIMUM } from '../journal/format.ts'
import type { Journal } from '../journal/journal.ts'
import type { VolumeWriter } from '../payloads/volume-writer.ts'
import type { StateTransaction } from '../state-store.ts'

/** Most requests of one batch; the rest waits for the next one. */
export const REQUESTS_PER_BATCH_MAXIMUM = 1024
const STAGED_BYTES_MAXIMUM = 8 << 20
/** An attempt and an outcome, twice for a bypass. */
const COMMAND_BYTES_MAXIMUM = 4 * (RECORD_BODY_BYTES_MAXIMUM + 1024)
/** Payloads and parts whose references change: some 10 microseconds each (spec/decisions/0174). */
const ROWS_MAXIMUM = 2000

/** Bytes of records after which a batch takes no further command, so that the largest still fits. */
export function bytesForCommands(journal: Journal): number {
  return journal.batchBytesMaximum - COMMAND_BYTES_MAXIMUM
}

/** Whether a batch with entries takes more: all other requests wait for as long as it takes. */
export function batchHasRoom(
  journal: Journal,
  volumes: VolumeWriter,
  { bytes }: BatchBuilder,
  { rowsTouched }: StateTransaction,
): boolean {
  return (
    bytes <= bytesForCommands(journal) && volumes.stagedBytes <= STAGED_BYTES_MAXIMUM && rowsTouched <= ROWS_MAXIMUM
  )
}
