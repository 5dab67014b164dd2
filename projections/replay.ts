import type { Disk } from '../engine/disk/disk.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { segmentFirstSequence } from '../engine/disk/store-paths.ts'
import { decodeChanges } from '../engine/events/entry-codec.ts'
import type { AppliedPosition } from '../engine/state-ports.ts'
import { BufferedTables } from './buffered-tables.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { batchesOf, ChangeCursor, type ReplayChunk, readChunks } from './replay-chunk.ts'
import { readChunksInThread } from './replay-reader.ts'
import { TableTransaction } from './state-transaction.ts'
import { openTables } from './table-list.ts'

/** Called from time to time with the number of records read so far. */
export type ReplayProgress = (records: number) => void

/** From so many bytes on a second thread, which takes some 80 ms of a processor to start, reads ahead. */
const AHEAD_FROM_BYTES = 8 * 1024 ** 2

export interface ReplayOptions {
  readonly progress?: ReplayProgress | undefined
  /** Batches behind this record are proved and not applied. Default: all are applied. */
  readonly untilSequence?: number | undefined
  /** Bytes of journal from which on another thread reads ahead. Default: 8 MiB. */
  readonly aheadFromBytes?: number
}

/**
 * Brings the projections up to the end of the journal, from the position they have. Every record's hash and link is
 * proved on the way.
 * @returns records read
 * @throws JournalDamagedError
 */
export function replay(
  disk: Disk,
  paths: StorePaths,
  environment: ProjectionEnvironment,
  from: AppliedPosition | undefined,
  options: ReplayOptions = {},
): number {
  const { progress, untilSequence = Number.POSITIVE_INFINITY, aheadFromBytes = AHEAD_FROM_BYTES } = options
  const buffered = new BufferedTables(environment, openTables(environment))
  let records = 0
  const apply = (chunk: ReplayChunk) => {
    applyChunk(buffered, chunk, untilSequence)
    if (buffered.isFull) buffered.flush()
    records += chunk.records
    progress?.(records)
  }
  // A disk of a test lives in this thread only.
  const inThread = disk === nodeDisk && bytesFrom(disk, paths, from) >= aheadFromBytes
  if (inThread) readChunksInThread(paths, from, apply)
  else readChunks(disk, paths, from, apply)
  buffered.flush()
  return records
}

/** Bytes of the segments to be read but the last, most of which may be space that nothing was written to yet. */
function bytesFrom(disk: Disk, paths: StorePaths, from: AppliedPosition | undefined): number {
  const first = from?.segmentFirstSequence ?? 0
  const sequences = disk.list(paths.journal).flatMap((name) => segmentFirstSequence(name) ?? [])
  const sealed = sequences.filter((sequence) => sequence >= first).slice(0, -1)
  return sealed.reduce((bytes, sequence) => bytes + disk.sizeOf(paths.segment(sequence)), 0)
}

function applyChunk(buffered: BufferedTables, chunk: ReplayChunk, untilSequence: number): void {
  const transaction = new TableTransaction(buffered.tables)
  const cursor = new ChangeCursor(chunk)
  for (const { position, firstSequence, changeCount } of batchesOf(chunk)) {
    if (position.sequence > untilSequence) return
    for (let index = 0; index < changeCount; index += 1) {
      const { sequence, timeMicroseconds, body } = cursor.next()
      transaction.apply(sequence, timeMicroseconds, decodeChanges(body))
    }
    transaction.finish(position, firstSequence)
  }
}
