/** A journal of the builder with projections that say how far it was applied: what a reader of the audit log needs. */
import { sequenceOf } from '../../../engine/brands.ts'
import type { AppliedPosition } from '../../../engine/journal/positions.ts'
import { branded } from '../plain.ts'
import { mkdirSync, rmSync } from 'node:fs'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { AuditLog } from '../../../projections/audit/audit-log.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { openTables } from '../../../projections/tables/table-list.ts'
import { putApplied } from '../../../projections/tables/applied.ts'
import { noteBatch } from '../../../projections/tables/audit-index.ts'
import type { JournalBuilder } from './journal-builder.ts'
import { temporaryDirectory } from '../test-clients.ts'

export interface AppliedJournal {
  readonly log: AuditLog
  close(): Promise<void>
}

/**
 * Writes what is in `bytes` into a new directory, as the journal that was applied up to the end of `whole`: so `bytes` may be
 * a damaged copy of `whole`.
 * @param indexed whether every batch has a row in the index
 */
export async function appliedJournal(
  whole: JournalBuilder,
  bytes: JournalBuilder = whole,
  indexed = false,
): Promise<AppliedJournal> {
  const root = temporaryDirectory()
  const paths = new StorePaths(root)
  bytes.write(paths.journal)
  mkdirSync(paths.projections, { recursive: true })
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
  const tables = openTables(environment)
  environment.write(() => {
    for (const segment of whole.segments) {
      for (const { batchNumber, offset, length, records } of segment.batches) {
        const time = whole.time - whole.nextSequence + (records.at(-1)?.sequence ?? 0)
        const position = branded<AppliedPosition>({
          sequence: records.at(-1)?.sequence ?? 0,
          batch: batchNumber,
          head: whole.lastHash,
          orderMicroseconds: time,
          timeMicroseconds: time,
          earliestMicroseconds: time - records.length + 1,
          latestMicroseconds: time,
          differ: false,
          descend: false,
          segmentNumber: segment.number,
          segmentFirstSequence: segment.firstSequence,
          batchOffset: offset,
          offset: offset + length,
        })
        putApplied(tables.applied, position)
        // A batch gets a row when a block of records ends in it; as if it began with the first record it always does.
        if (indexed) noteBatch(tables.auditIndex, sequenceOf(0), position)
      }
    }
  })
  const close = async () => {
    await environment.close()
    rmSync(root, { recursive: true })
  }
  return { log: new AuditLog(nodeDisk, paths, environment), close }
}
