/** Object Lock rule 8: what cannot be put on record is not done, and the version stays. */
import { test } from 'tap'
import type { DeleteObject, SetRetention } from '../../engine/commands.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import { createBucket, deleteObject, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError, noSpaceError } from '../support/fault-disk.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore, readObject, type TestStore } from '../support/test-store.ts'

const SEGMENT = /\/journal\/\d+\.segment$/
const BYTES = Buffer.from('bytes under governance')
const UNTIL = Date.now() + 24 * 60 * 60 * 1000
const LOCK = { retention: { mode: 'GOVERNANCE', untilMilliseconds: UNTIL }, hold: undefined } as const

function current(store: TestStore): ObjectState | undefined {
  const bucket = store.catalog.bucket('locked')
  return bucket && store.catalog.object(bucket.id, 'k')
}

/** Both ways to bypass governance. */
function bypasses(version: number): readonly (DeleteObject | SetRetention)[] {
  const common = { bucket: 'locked', key: 'k', version, bypassGovernance: true } as const
  const { audit, condition } = deleteObject('locked', 'k')
  return [
    { kind: 'delete-object', audit, condition, ...common },
    { kind: 'set-retention', audit, retention: undefined, ...common },
  ]
}

test('a bypass whose records do not reach the disk is refused, and nobody sees it done', async (t) => {
  for (const error of [inputOutputError(), noSpaceError()]) {
    for (const operation of ['write', 'sync'] as const) {
      for (const index of [0, 1]) {
        const directory = t.testdir()
        const disk = new FaultDisk()
        const store = await openTestStore(directory, {}, disk)
        await store.client.execute({ ...createBucket('locked'), lockEnabled: true })
        const { sequence } = await store.client.execute({ ...write('locked', 'k', BYTES), lock: LOCK })
        disk.fault = ({ name, path }) =>
          name === operation && SEGMENT.test(path) ? { kind: 'error', error } : undefined
        const [command] = bypasses(sequence).slice(index)
        const name = `${command?.kind}, ${operation} fails with ${error.message}`
        if (command === undefined) throw new Error(name)
        await t.rejects(store.client.execute(command), { name: 'EngineUnavailableError' }, name)
        t.equal(current(store)?.sequence, sequence, `${name}: nobody sees it gone`)
        disk.fault = () => undefined
        await store.kill()

        const again = await openTestStore(directory)
        const success = journalEntries(directory).filter(
          ({ operation: named, result }) => named.includes('object-lock.bypass') && result === 'success',
        )
        // A batch whose sync failed may have reached the disk: then all of it did, the records included.
        if (operation === 'sync' && success.length > 0) {
          t.notMatch(current(again), { lock: LOCK }, `${name}: done, and on record`)
        } else {
          t.same(success, [], 'no record claims what did not happen')
          t.match(current(again), { sequence, lock: LOCK }, `${name}: after a restart`)
          t.same(await readObject(again, 'locked', 'k'), BYTES)
        }
        await again.close(true)
      }
    }
  }
})

test('the records of a bypass and the change are of one batch: the attempts stand first', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute({ ...createBucket('locked'), lockEnabled: true })
  const { sequence } = await store.client.execute({ ...write('locked', 'k', BYTES), lock: LOCK })
  const [remove] = bypasses(sequence)
  if (remove === undefined) throw new Error('no command')
  await store.client.execute(remove)
  const records = journalEntries(store.paths.root).slice(-4)
  t.same(
    records.map(({ operation, result, changes }) => [operation, result, changes.length]),
    [
      ['s3:DELETE', 'attempted', 0],
      ['s3:object-lock.bypass', 'attempted', 0],
      ['s3:DELETE', 'success', 1],
      ['s3:object-lock.bypass', 'success', 0],
    ],
  )
  t.same(new Set(records.map(({ details }) => details.get('version_id'))).size, 2, 'the plain attempt names no version')
  await store.close(true)
})
