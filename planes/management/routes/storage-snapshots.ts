import type { SnapshotFacts } from '../../../projections/snapshots/snapshot-facts.ts'
import { object, oneOf, orNull, TIME, whole } from '../schemas/schema.ts'

/** Snapshots of the projections in the status of the storage. */
export const SNAPSHOTS = object({
  state: oneOf('off', 'waiting', 'making', 'no-room'),
  newest_sequence: orNull(whole()),
  newest_at: orNull(TIME),
  newest_bytes: orNull(whole()),
  records_after: whole(),
  count: whole(),
  changes: whole(),
  bytes: whole(),
  made: whole(),
  written_bytes: whole(),
  failures: whole(),
})

/** @param lastSequence of the journal: a start replays the entries between the newest snapshot and it */
export function snapshotRecord({ newest, ...facts }: SnapshotFacts, lastSequence: number): Record<string, unknown> {
  const { createdMilliseconds } = newest ?? {}
  return {
    state: facts.state,
    newest_sequence: newest?.sequence ?? null,
    newest_at: createdMilliseconds === undefined ? null : new Date(createdMilliseconds).toISOString(),
    newest_bytes: newest?.bytes ?? null,
    records_after: Math.max(0, lastSequence - (newest?.sequence ?? -1)),
    count: facts.count,
    changes: facts.changes,
    bytes: facts.bytes,
    made: facts.made,
    written_bytes: facts.writtenBytes,
    failures: facts.failures,
  }
}
