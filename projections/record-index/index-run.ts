import { type BackgroundRun, startRun } from '../background-run.ts'
import type { IndexName } from './index-names.ts'
import type { IndexTask } from './make-index.ts'

/** A file of the record index that is being made. */
export type IndexRun = BackgroundRun<IndexName>

/** Makes a file of the record index in a thread of its own, at a bounded rate: of the journal that is read, and of files. */
export function runIndex(root: string, task: IndexTask, bytesPerSecond: number): IndexRun {
  return startRun(new URL('./index-thread.js', import.meta.url), root, task, bytesPerSecond)
}
