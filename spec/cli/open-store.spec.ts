/** The opening of a store: whose time its first records have. */
import { test } from 'tap'
import { createBucket, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError } from '../support/fault-disk.ts'
import { openTestStore, readObject } from '../support/test-store.ts'

const LONG_AGO = Date.UTC(2001, 8, 9) * 1000

test('everything in a new store has the time of the clock that the store was given', async (t) => {
  const store = await openTestStore(t.testdir(), { clock: () => LONG_AGO })
  // No record is older than the one before it: with the host's time in the genesis, all that follow had it too.
  t.equal(store.journal.position.timeMicroseconds, LONG_AGO)
  await store.close(true)
  t.same(store.failures, [])
})

test('without one it is the time of the host', async (t) => {
  const before = Date.now() * 1000
  const store = await openTestStore(t.testdir())
  t.ok(store.journal.position.timeMicroseconds >= before)
  await store.close(true)
})

test('why a store cannot be opened is told, whatever else fails while it is closed again', async (t) => {
  const root = t.testdir()
  await (await openTestStore(root)).close(true)
  const disk = new FaultDisk()
  disk.fault = ({ name, path }) =>
    name === 'close' && path.endsWith('HEAD') ? { kind: 'error', error: inputOutputError() } : undefined
  const masterKey = Buffer.alloc(32, 1)
  await t.rejects(openTestStore(root, { masterKey }, disk), { name: 'MasterKeyMismatchError' })
  t.equal(disk.count('close', /HEAD$/), 1)
  await (await openTestStore(root)).close(true)
})

test('a store that could not be closed whole takes nothing any more, and has closed all else', async (t) => {
  const root = t.testdir()
  const disk = new FaultDisk()
  const store = await openTestStore(root, {}, disk)
  await store.client.execute(createBucket('kept'))
  await store.client.execute(write('kept', 'before', Buffer.from('before')))
  disk.fault = ({ name, path }) =>
    name === 'close' && path.endsWith('.volume') ? { kind: 'error', error: inputOutputError() } : undefined
  disk.operations.length = 0
  await t.rejects(store.close(true), { code: 'EIO' })
  t.equal(disk.count('close', /\.segment$/), 1)
  t.equal(disk.count('close', /HEAD$/), 1)
  await t.rejects(store.client.execute(write('kept', 'after', Buffer.from('after'))), {
    name: 'EngineUnavailableError',
  })
  disk.fault = () => undefined
  await store.close(false)
  t.equal(disk.count('close', /HEAD$/), 1, 'nothing is closed twice')
  t.same(store.failures, [])

  const again = await openTestStore(root)
  t.equal((await readObject(again, 'kept', 'before'))?.toString(), 'before')
  await again.close(true)
})
