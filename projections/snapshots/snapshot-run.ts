import { type BackgroundRun, startRun } from '../background-run.ts'
import type { MadeSnapshot, SnapshotRequest } from './make-snapshot.ts'

/** A snapshot that is being made. */
export type SnapshotRun = BackgroundRun<MadeSnapshot>

/** Makes a snapshot in a thread of its own, at a bounded rate. */
export function runSnapshot(root: string, request: SnapshotRequest, bytesPerSecond: number): SnapshotRun {
  return startRun(new URL('./snapshot-thread.js', import.meta.url), root, request, bytesPerSecond)
}
