/** What must be true of the changes of a journal, whoever asked for them. */
import type { JournalEntry } from '../../support/journal-entries.ts'

/**
 * The master key is changed once for each time that it was to be, whatever cut the change short. The deletion of a bucket aborts the uploads that are in progress in it, in the same entry: what is left of a bucket that
 * is gone belongs to nobody.
 * @param keyChanges how often the store was given another master key
 * @returns the first thing that is wrong
 */
export function lawProblem(entries: readonly JournalEntry[], keyChanges = 0): string | undefined {
  const changed = entries.filter(({ changes }) => changes.some(({ name }) => name === 'master-key.changed')).length
  if (changed !== keyChanges) return `the master key was changed ${changed} times, not ${keyChanges}`
  /** Uploads in progress, by bucket. */
  const open = new Map<number, Set<number>>()
  for (const { sequence, changes } of entries) {
    for (const change of changes) {
      if (change.name === 'upload.created') {
        open.set(change.bucketId, (open.get(change.bucketId) ?? new Set()).add(sequence))
      } else if (change.name === 'upload.completed' || change.name === 'upload.aborted') {
        const isKnown = open.get(change.bucketId)?.delete(change.upload) === true
        if (!isKnown) return `entry ${sequence} ends upload ${change.upload}, which is not in progress`
      }
    }
    const deleted = changes.find(({ name }) => name === 'bucket.deleted')
    if (deleted?.name !== 'bucket.deleted') continue
    const [left] = open.get(deleted.bucketId) ?? []
    if (left !== undefined) return `entry ${sequence} deletes a bucket, and leaves its upload ${left} in progress`
  }
  return undefined
}
