import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { Sequence } from '../../engine/brands.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { readEntry } from '../../engine/verify/entry-form.ts'
import type { Change } from '../../engine/events/changes.ts'
import { decodeChanges } from '../../engine/events/entry-codec.ts'
import { NewerFormatError, StartStoppedError } from '../../engine/errors.ts'
import { type AccessAuthentication, changesAccess } from '../../engine/access/access-authentication.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import type { AccessSeal } from '../apply/access-seal.ts'
import { type Recounted, recountWrong } from '../apply/recount.ts'
import { BufferedTables } from '../apply/buffered-tables.ts'
import type { HeldTable } from '../apply/write-held.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { batchesOf, ChangeCursor, type ReplayChunk, readChunks } from './replay-chunk.ts'
import { readChunksInThread } from './replay-reader.ts'
import { ThreadWriter } from './thread-writer.ts'
import { TableTransaction } from '../apply/state-transaction.ts'
import { openTables, type Tables } from '../tables/table-list.ts'

/** Called from time to time with the number of records read so far. */
export type ReplayProgress = (records: number) => void

/** From this many bytes on a second thread, which takes about 80 ms of processor time to start, reads ahead, and a third writes. */
export const AHEAD_FROM_BYTES = 8 * 1024 ** 2

interface ReplayOptions {
  readonly progress?: ReplayProgress | undefined
  /** Batches after this record are verified and not applied; 'none' applies no batch. Default: all are applied. */
  readonly until?: Sequence | 'none' | undefined
  /** Bytes of journal from which on one more thread reads ahead and one writes. Default: 8 MiB. */
  readonly aheadFromBytes?: number
  /**
   * Segments that begin with this sequence or a later one are not read, and this thread reads alone unless `aheadFromBytes` is given.
   * Default: all are.
   */
  readonly before?: Sequence
  /** Rows held back before they are written in order. Default: 200,000. */
  readonly rowsMaximum?: number | undefined
  /** Called with counters that were wrong in the end, and were counted again. */
  readonly recounted?: ((recounted: Recounted) => void) | undefined
  /**
   * Checks that every change of access was written with the master key. Without it they are applied unchecked, which no
   * server may do.
   */
  readonly access?: AccessAuthentication | undefined
  /** Asked again and again: whether to stop. */
  readonly stopAsked?: (() => boolean) | undefined
  /** Seals the rows of access with every lot, and keeps each lot, so that a process that is killed can go on where it was. */
  readonly seal?: AccessSeal | undefined
  /** Called with each lot of rows before it is written. */
  readonly lot?: ((held: readonly HeldTable[]) => void) | undefined
}

/**
 * Applies the journal after `from` to the projections, verifying the hash and link of every record.
 * @returns records read
 * @throws JournalDamagedError, NewerFormatError, AccessForgedError, StartStoppedError
 */
export function replay(
  disk: Disk,
  paths: StorePaths,
  environment: ProjectionEnvironment,
  from: AppliedPosition | undefined,
  options: ReplayOptions = {},
): number {
  const { progress, until, before, rowsMaximum, seal, stopAsked, aheadFromBytes = AHEAD_FROM_BYTES } = options
  // The disk of a spec exists in this thread only.
  const isAlone = before !== undefined && options.aheadFromBytes === undefined
  const inThreads = disk === nodeDisk && !isAlone && bytesFrom(disk, paths, from) >= aheadFromBytes
  const writer = inThreads ? new ThreadWriter(environment, { keepsLots: seal !== undefined, stopAsked }) : undefined
  try {
    const tables = openTables(environment)
    const buffered = new BufferedTables(environment, tables, {
      rowsMaximum,
      writer,
      seal: seal && ((held) => seal.ofHeld(held)),
      lot: options.lot,
    })
    const followed = seal?.followed(buffered.tables) ?? buffered.tables
    let records = 0
    const apply = (chunk: ReplayChunk) => {
      if (until !== 'none') applyChunk(buffered, followed, chunk, options)
      records += chunk.records
      progress?.(records)
      if (stopAsked?.() === true) throw new StartStoppedError()
    }
    if (inThreads) readChunksInThread(paths, from, apply, before)
    else readChunks(disk, paths, from, apply, before)
    buffered.finish()
    for (const recounted of environment.write(() => recountWrong(tables))) options.recounted?.(recounted)
    return records
  } finally {
    writer?.end()
  }
}

/** Bytes of the segments to be read, without the last, most of which may be unwritten space. */
function bytesFrom(disk: Disk, paths: StorePaths, from: AppliedPosition | undefined): number {
  const begun = from?.segmentFirstSequence ?? 0
  const sealed = segmentFirsts(disk, paths).filter((first) => first >= begun)
  return sealed.slice(0, -1).reduce((bytes, first) => bytes + disk.sizeOf(paths.segment(first)), 0)
}

function applyChunk(
  buffered: BufferedTables,
  tables: Tables,
  chunk: ReplayChunk,
  { until, access }: ReplayOptions,
): void {
  const transaction = new TableTransaction(tables)
  const cursor = new ChangeCursor(chunk)
  for (const { position, firstSequence, changeCount, uses } of batchesOf(chunk)) {
    if (until !== undefined && until !== 'none' && position.sequence > until) return
    for (let index = 0; index < changeCount; index += 1) {
      const entry = cursor.next()
      const { sequence, body } = entry
      const changes = changesOf(sequence, body)
      const code =
        access !== undefined && changesAccess(changes)
          ? access.follow(transaction.accessCode, entry, changes)
          : undefined
      transaction.apply(sequence, entry, changes)
      if (code !== undefined) transaction.keepAccessCode(code)
    }
    transaction.finish(position, firstSequence, uses)
    if (buffered.isFull) buffered.flush()
  }
}

/**
 * @throws NewerFormatError that names the record: its hash is right, so a newer program wrote it
 * @throws JournalDamagedError for a body that no version wrote
 */
function changesOf(sequence: Sequence, body: Uint8Array): Change[] {
  try {
    return decodeChanges(body)
  } catch (error) {
    if (readEntry(Buffer.from(body), 0, body.length, RECORD_KIND.change) === undefined) {
      const advice = '`object-store journal verify` names it; restore a backup from before it'
      throw new JournalDamagedError(`record ${sequence}: the body is not an entry: ${advice}`, { cause: error })
    }
    const what = error instanceof Error ? error.message : String(error)
    throw new NewerFormatError(`record ${sequence}: ${what}; a newer version of the program wrote it`, { cause: error })
  }
}
