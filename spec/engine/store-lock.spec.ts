/**
 * One writer for one data directory, and what the writer does when there is another one all the same (J18).
 * Proves: DO-LIS-01.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { isStoreLocked, lockStore, type StoreLock } from '../../engine/disk/store-lock.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { createBucket, write } from '../support/commands.ts'
import { openTestStore, readObject, roomyDisk } from '../support/test-store.ts'

const ROUNDS = 12
const RIVALS = 6
const SOCKET_PATH_BYTES = 108
const LOCK_MODULE = new URL('../../engine/disk/store-lock.js', import.meta.url)
const DISK_MODULE = new URL('../../engine/disk/node-disk.js', import.meta.url)

const locked = { name: 'StoreLockedError' }

/** A process that has the lock and does nothing. */
async function holderOf(t: Test, directory: string): Promise<ChildProcess> {
  const program = `
    const { lockStore } = await import(${JSON.stringify(LOCK_MODULE)})
    const { nodeDisk } = await import(${JSON.stringify(DISK_MODULE)})
    await lockStore(nodeDisk, process.argv[1])
    process.stdout.write('locked')
    setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', program, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_OPTIONS: '' },
  })
  t.teardown(() => holder.kill('SIGKILL'))
  await once(holder.stdout as NonNullable<typeof holder.stdout>, 'data')
  return holder
}

async function end(holder: ChildProcess): Promise<void> {
  const ended = once(holder, 'exit')
  holder.kill('SIGKILL')
  await ended
}

test('J18 a data directory has one writer, whatever path leads to it', async (t) => {
  const root = t.testdir({ data: {}, link: t.fixture('symlink', 'data') })
  const lock = await lockStore(nodeDisk, join(root, 'data'))
  for (const path of ['data', 'link']) await t.rejects(lockStore(nodeDisk, join(root, path)), locked, path)
  await lock.release()
  await (await lockStore(nodeDisk, join(root, 'link'))).release()
})

test('J18 a lock that is released twice closes no file of somebody else', async (t) => {
  const directory = t.testdir()
  const lock = await lockStore(nodeDisk, directory)
  await lock.release()
  const numbers = Array.from({ length: 4 }, () => openSync(directory, 'r'))
  await lock.release()
  for (const number of numbers) t.ok(fstatSync(number).isDirectory())
  for (const number of numbers) closeSync(number)
})

test('J18 of those that want the lock at once exactly one gets it', async (t) => {
  const root = t.testdir()
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = await Promise.allSettled(Array.from({ length: RIVALS }, () => lockStore(nodeDisk, root)))
    const won = results.filter((result) => result.status === 'fulfilled')
    const refused = results.filter((result) => result.status === 'rejected')
    t.equal(won.length, 1, `round ${round}`)
    for (const { reason } of refused) t.match(reason, locked)
    for (const { value } of won) await value.release()
  }
  t.same(readdirSync(join(root, 'lock')), [], 'nothing is left')
})

test('J18 what a killed process leaves holds nobody up, and is removed', async (t) => {
  const root = t.testdir()
  const paths = new StorePaths(root)
  for (let kill = 0; kill < 3; kill += 1) {
    const holder = await holderOf(t, root)
    t.equal(await isStoreLocked(nodeDisk, root), true)
    await t.rejects(lockStore(nodeDisk, root), locked)
    await end(holder)
    t.equal(await isStoreLocked(nodeDisk, root), false)
    t.equal(readdirSync(paths.lock).length, 1, 'its socket, and none of those before')
  }
  const lock = await lockStore(nodeDisk, root)
  t.same(
    readdirSync(paths.lock).map((name) => join(paths.lock, name)),
    [lock.path],
  )
  await lock.release()
})

test('J18 a process that is stopped holds the lock', async (t) => {
  const root = t.testdir()
  const holder = await holderOf(t, root)
  holder.kill('SIGSTOP')
  await t.rejects(lockStore(nodeDisk, root), locked)
  t.equal(await isStoreLocked(nodeDisk, root), true)
  await end(holder)
})

test('J18 whatever lies in the directory of the lock, a start gets past it and leaves what is not its own', async (t) => {
  const dead = '0123456789abcdef'
  const root = t.testdir({ lock: { [dead]: 'a socket that a copy made a file of', 'a note': '', [`.${dead}`]: {} } })
  chmodSync(join(root, 'lock'), 0o777)
  const lock = await lockStore(nodeDisk, root)
  t.same(
    readdirSync(join(root, 'lock'))
      .map((name) => join(root, 'lock', name))
      .toSorted(),
    [lock.path, join(root, 'lock', 'a note')].toSorted(),
  )
  t.equal(statSync(join(root, 'lock')).mode & 0o777, 0o700, 'nobody else gets in')
  t.equal(lstatSync(lock.path).mode & 0o777, 0o600)
  await lock.release()
})

test('J18 a copy of a directory that is locked is another store, and looking makes nothing', async (t) => {
  const root = t.testdir({ data: {}, long: {} })
  const data = join(root, 'data')
  const lock = await lockStore(nodeDisk, data)
  const copied = spawn('cp', ['-a', data, join(root, 'copy')])
  t.same(await once(copied, 'exit'), [0, null])
  t.equal(await isStoreLocked(nodeDisk, join(root, 'copy')), false)
  await (await lockStore(nodeDisk, join(root, 'copy'))).release()
  t.same(await isStoreLocked(nodeDisk, join(root, 'long')), false)
  t.same(readdirSync(join(root, 'long')), [])
  await lock.release()
  cpSync(data, join(root, 'second copy'), { recursive: true })
})

test('J18 a path that is too long for a socket', async (t) => {
  const root = join(t.testdir(), ...Array.from({ length: 4 }, () => 'd'.repeat(60)))
  mkdirSync(root, { recursive: true })
  const first = await lockStore(nodeDisk, root)
  t.ok(first.path.length > SOCKET_PATH_BYTES)
  await t.rejects(lockStore(nodeDisk, root), locked)
  await first.release()
  const second: StoreLock = await lockStore(nodeDisk, root)
  await second.release()
})

test('J18 bytes of another writer at the place of a batch are not overwritten, and the engine ends', async (t) => {
  for (const behind of [0, 5000]) {
    const root = join(t.testdir(), String(behind))
    const store = await openTestStore(root)
    await store.client.execute(createBucket('photos'))
    await store.client.execute(write('photos', 'before', Buffer.from('before')))
    const { segmentFirstSequence, offset } = store.journal.place
    const segment = store.paths.segment(segmentFirstSequence)
    const at = offset + behind
    const stranger = openSync(segment, 'r+')
    writeSync(stranger, 'x', at)
    closeSync(stranger)
    const volumesNow = () =>
      store.disk
        .list(store.paths.volumes)
        .filter((name) => name.endsWith('.volume'))
        .map((name) => readFileSync(join(store.paths.volumes, name)).toString('latin1'))
    const volumes = volumesNow()
    const before = readFileSync(segment)
    const values = Array.from({ length: 40 }, (_, index) => write('photos', `key ${index}`, Buffer.from('after')))
    const answers = await Promise.allSettled(values.map((value) => store.client.execute(value)))
    t.equal(answers.at(-1)?.status, 'rejected')
    t.match(store.failures, [
      { name: 'JournalPoisonedError', message: /another process wrote at offset \d+ of .*t, where/ },
    ])
    t.equal(readFileSync(segment)[at], 'x'.charCodeAt(0), 'what the other wrote is there')
    if (behind === 0) {
      t.ok(answers.every(({ status }) => status === 'rejected'))
      t.ok(readFileSync(segment).equals(before), 'the segment is as the other left it')
      t.ok(volumesNow().join() === volumes.join(), 'and so are the volumes, which it may have written as well')
    }
    await store.kill()
  }
})

test('J18 a seal is not written over the bytes of another writer either', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root)
  await store.client.execute(createBucket('photos'))
  const isNearEnd = () => store.journal.place.offset + store.journal.batchBytesMaximum + 1024 > 256 * 1024
  for (let index = 0; !isNearEnd(); index += 1) await store.client.execute(createBucket(`bucket-${index}`))
  const { segmentFirstSequence, offset } = store.journal.place
  const segment = store.paths.segment(segmentFirstSequence)
  const stranger = openSync(segment, 'r+')
  writeSync(stranger, 'x', offset + 100)
  closeSync(stranger)
  const before = readFileSync(segment)
  await t.rejects(store.client.execute(createBucket('after')))
  t.match(store.failures, [{ name: 'JournalPoisonedError', message: /another process wrote/ }])
  t.ok(readFileSync(segment).equals(before))
  await store.kill()
})

test('J18 a writer whose lock was deleted writes no more', async (t) => {
  const root = t.testdir()
  const lock = await lockStore(nodeDisk, root)
  const store = await openTestStore(root, { lockPath: lock.path }, roomyDisk)
  await store.client.execute(createBucket('photos'))
  await store.client.execute(write('photos', 'before', Buffer.from('before')))
  rmSync(join(root, 'lock'), { recursive: true })
  await t.rejects(store.client.execute(write('photos', 'after', Buffer.from('after'))))
  t.match(store.failures, [{ name: 'JournalPoisonedError', message: /the lock .* was removed/ }])
  await store.kill()
  await lock.release()
  t.equal(existsSync(join(root, 'lock')), false)
  const again = await openTestStore(root)
  t.same(await readObject(again, 'photos', 'before'), Buffer.from('before'))
  t.equal(await readObject(again, 'photos', 'after'), undefined)
  await again.close(true)
})

test('J18 a directory in which no socket can be made is not opened', async (t) => {
  const root = t.testdir({ lock: 'a file' })
  await t.rejects(lockStore(nodeDisk, root), { name: 'StoreLockError', message: /cannot be locked \(ENOTDIR\)/ })
  await t.rejects(isStoreLocked(nodeDisk, root), { name: 'StoreLockError' })
})
