import { test } from 'tap'
import type { JournalEntry } from '../../support/journal-entries.ts'
import { lawProblem } from './journal-laws.ts'

type Changes = JournalEntry['changes']

const DELETED = [{ name: 'bucket.deleted', bucketId: 7, bucket: 'b' }]
const CREATED = [{ name: 'upload.created', bucketId: 7, key: 'k' }]
const aborted = (upload: number) => [{ name: 'upload.aborted', bucketId: 7, key: 'k', upload }]

/** @param changes of the entries, which are numbered from 1 on */
function problem(...changes: readonly (readonly object[])[]): string | undefined {
  return lawProblem(
    changes.map((of, index) => ({ sequence: index + 1, changes: of as unknown as Changes }) as JournalEntry),
  )
}

test('a bucket is deleted with the uploads that are in progress in it', (t) => {
  t.equal(problem(CREATED, [...aborted(1), ...DELETED]), undefined)
  t.equal(problem(CREATED, aborted(1), DELETED), undefined)
  t.match(problem(CREATED, DELETED, aborted(1)), /entry 2 deletes a bucket, and leaves its upload 1 in progress/)
  t.match(problem(CREATED, CREATED, [...aborted(2), ...DELETED]), /leaves its upload 1/)
  t.end()
})

test('what ends an upload names one that is in progress', (t) => {
  t.match(problem(aborted(1)), /entry 1 ends upload 1, which is not in progress/)
  t.match(problem(CREATED, aborted(1), aborted(1)), /entry 3 ends upload 1/)
  t.end()
})

test('the master key is changed as often as it was to be', (t) => {
  const entry = { sequence: 1, changes: [{ name: 'master-key.changed' }] as unknown as Changes } as JournalEntry
  t.equal(lawProblem([entry], 1), undefined)
  t.equal(lawProblem([entry, entry], 1), 'the master key was changed 2 times, not 1')
  t.end()
})
