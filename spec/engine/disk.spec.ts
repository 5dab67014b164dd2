import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { SpareFile } from '../../engine/disk/spare-file.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { FaultDisk, inputOutputError } from '../support/fault-disk.ts'
import { roomyDisk } from '../support/test-store.ts'

test('J18 a data directory has one writer, whatever path leads to it', async (t) => {
  const root = t.testdir({ data: {}, link: t.fixture('symlink', 'data') })
  const lock = await lockStore(roomyDisk, join(root, 'data'))
  for (const path of ['data', 'link']) {
    await t.rejects(lockStore(roomyDisk, join(root, path)), { name: 'StoreLockedError' }, path)
  }
  await lock.release()
  await (await lockStore(roomyDisk, join(root, 'link'))).release()
})

test('space that a spare takes is given back also while it is made, and a spare that cannot be made fails nothing', async (t) => {
  const root = t.testdir()
  const path = join(root, 'spare')
  const disk = new FaultDisk()
  const spare = new SpareFile(disk, root, path, 8 << 20)
  const making = spare.prepare()
  disk.after = ({ name, position }) => {
    if (name === 'write' && position === 3 << 20) spare.discard()
  }
  await making
  t.equal(existsSync(path), false)
  t.equal(spare.ready, false, 'what was given back is not kept open without a name')
  t.ok(disk.count('write') < 8, 'and the rest of it is not written')
  disk.after = () => undefined
  await spare.prepare()
  t.equal(spare.ready, true)
  spare.discard()
  disk.fault = () => ({ kind: 'error', error: inputOutputError() })
  await spare.prepare()
  t.match(spare.failure, { code: 'EIO' })
  disk.fault = () => undefined
  await spare.close()
  t.same(readdirSync(root), [])
})

test('a file that is closed twice does not close another one that has its number', async (t) => {
  const root = t.testdir({ first: 'first', second: 'second' })
  for (const close of ['close', 'closeLater'] as const) {
    const first = roomyDisk.openToRead(join(root, 'first'))
    await first[close]()
    const second = roomyDisk.openToRead(join(root, 'second'))
    await first[close]()
    const bytes = Buffer.alloc(6)
    t.equal(second.readAt(bytes, 0, 6), 6)
    t.equal(bytes.toString(), 'second')
    second.close()
  }
})

test('a file that is closed is not written or read through the number that another one has now', async (t) => {
  const root = t.testdir({ first: 'first', second: 'second' })
  const first = roomyDisk.openToWrite(join(root, 'first'))
  first.close()
  const second = roomyDisk.openToWrite(join(root, 'second'))
  const bytes = Buffer.from('wrong')
  const closed = /first is closed/
  t.throws(() => first.writeAt(bytes, 0), closed)
  t.throws(() => first.readAt(bytes, 0, 5), closed)
  t.throws(() => first.sync(), closed)
  t.throws(() => first.size(), closed)
  t.throws(() => first.truncate(0), closed)
  t.throws(() => first.seal(), closed)
  await t.rejects(first.writeAtLater(bytes, 0), closed)
  await t.rejects(first.readAtLater(bytes, 0, 5), closed)
  await t.rejects(first.syncLater(), closed)
  second.close()
  t.equal(readFileSync(join(root, 'second'), 'utf8'), 'second')
})
