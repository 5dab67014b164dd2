import { randomBytes } from 'node:crypto'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { EngineLoop } from '../../../engine/loop/engine-loop.ts'
import type { ChangeNamed } from '../../../engine/events/changes.ts'
import { evidenceIsRecorded, pendingEvidence } from '../../../engine/journal/evidence.ts'
import { readRestoreNote, removeRestoreNote } from '../../../engine/journal/recovery/restore-note.ts'
import { unrecordedAreWritten, unrecordedBodies } from '../../../engine/journal/recovery/unrecorded.ts'
import { systemAudit } from '../../../workers/system-audit.ts'

const JOURNAL_RESTORE = systemAudit('operator', 'journal.restore', 'journal')
const SERVER_START = systemAudit('server', 'server.start', 'server')

/**
 * Records that the journal was restored, if it was (spec/decisions/0107-backup-and-restore.md): readers see that
 * another history may follow the same record elsewhere. After a crash it may be recorded twice.
 */
export async function recordRestore(client: EngineClient, disk: Disk, paths: StorePaths): Promise<void> {
  const restored = readRestoreNote(disk, paths)
  if (restored === undefined) return
  const changes = [{ name: 'journal.restored', ...restored } as const]
  await client.execute({ kind: 'record-server-event', audit: JOURNAL_RESTORE, changes })
  removeRestoreNote(disk, paths)
}

/** Records the start, and what recovery cut off, as the first entry. Returns the name of the start. */
export async function recordStart(
  client: EngineClient,
  disk: Disk,
  paths: StorePaths,
  version: string,
): Promise<string> {
  const start = randomBytes(8).toString('hex')
  const changes: (ChangeNamed<'server.started'> | ChangeNamed<'journal.recovered'>)[] = [
    { name: 'server.started', version, start },
  ]
  for (const cut of pendingEvidence(disk, paths)) changes.push({ name: 'journal.recovered', ...cut })
  await client.execute({ kind: 'record-server-event', audit: SERVER_START, changes })
  evidenceIsRecorded(disk, paths)
  return start
}

/** Submits the records that came too late when the journal failed. */
export async function recordLate(loop: EngineLoop, disk: Disk, paths: StorePaths): Promise<void> {
  for (const body of unrecordedBodies(disk, paths)) loop.submit({ kind: 'audit', body })
  await loop.drained()
  if (loop.failure !== undefined) throw loop.failure
  // Without room in the journal they go on waiting, and the next start looks which are there.
  if (loop.waiting === 0) unrecordedAreWritten(disk, paths)
}
