/** Commands of one batch are judged one after the other, each by what the ones before it did. */
import { test } from 'tap'
import { auditOf, createBucket, deleteBucket, deleteObject, write } from '../support/commands.ts'
import { rebuiltTables } from '../support/rebuilt-tables.ts'
import { dumpStore, openTestStore, readObject } from '../support/test-store.ts'

const audit = auditOf('management', 'bucket:photos')

function outcome(result: PromiseSettledResult<unknown>): string {
  return result.status === 'fulfilled' ? 'done' : (result.reason as { code: string }).code
}

test('what a command reads of buckets and objects is what the commands before it in its batch made', async (t) => {
  const store = await openTestStore(t.testdir(), { segmentBytes: 4 << 20 })
  const { client } = store
  const put = (text: string, change = {}) => client.execute({ ...write('photos', 'k', Buffer.from(text)), ...change })
  const { batches } = store.journal.statistics
  const results = await Promise.allSettled([
    client.execute(createBucket('photos')),
    put('one'),
    put('two', { condition: { kind: 'absent' } }),
    client.execute(deleteObject('photos', 'k')),
    put('three', { condition: { kind: 'absent' } }),
    client.execute({ kind: 'set-quota', bucket: 'photos', quota: { bytes: 2, objects: undefined }, audit }),
    put('longer than that'),
    client.execute(deleteObject('photos', 'k')),
    client.execute(deleteBucket('photos')),
    put('four'),
    client.execute(createBucket('photos')),
    put('five is longer than the quota of the first bucket'),
    client.execute({ kind: 'set-versioning', bucket: 'photos', versioning: 'enabled', audit }),
    put('six'),
    put('seven'),
  ])
  t.same(results.map(outcome), [
    'done',
    'done',
    'precondition-failed',
    'done',
    'done',
    'done',
    'quota-exceeded',
    'done',
    'done',
    'bucket-not-found',
    'done',
    'done',
    'done',
    'done',
    'done',
  ])
  t.match(results.slice(-2), [{ value: { version: Number } }, { value: { version: Number } }])
  t.equal(store.journal.statistics.batches, batches + 1, 'they were one batch')
  t.same(await readObject(store, 'photos', 'k'), Buffer.from('seven'))
  t.same(await dumpStore(store.paths), await rebuiltTables(store.paths))
  await store.close(true)
})
