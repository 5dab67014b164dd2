import { join } from 'node:path'
import { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { createBucket, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError } from '../support/fault-disk.ts'
import { openTestStore, readObject } from '../support/test-store.ts'

/** Longer than the time between two marks. */
const MARK_MILLISECONDS = 1300

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
const nameOf = (error: unknown): string => (error as Error).name

test('J6 J7 the mark follows the journal, and never speaks of what a failed write left', async (t) => {
  const root = t.testdir()
  const follows = async () => {
    const store = await openTestStore(join(root, 'follows'))
    await store.client.execute(createBucket('marked'))
    await pause(MARK_MILLISECONDS)
    const { sequence, head, batch } = store.journal.position
    await store.kill()
    const file = HeadFile.open(nodeDisk, store.paths)
    t.match(file.newest, { sequence, batch, head: Buffer.from(head), clean: false }, 'within a second or so')
    file.close()
  }
  const failsToSeal = async () => {
    const disk = new FaultDisk()
    const segmentBytes = 16 * 1024
    const store = await openTestStore(join(root, 'seal'), { segmentBytes }, disk)
    await store.client.execute(createBucket('marked'))
    for (let index = 0; store.journal.place.offset + segmentBytes / 4 + 1024 <= segmentBytes; index += 1) {
      await store.client.execute(write('marked', `key-${index}`, Buffer.from('bytes')))
    }
    disk.fault = ({ name, path }) =>
      name === 'sync' && path.endsWith('.segment') ? { kind: 'error', error: inputOutputError() } : undefined
    await t.rejects(store.client.execute(write('marked', 'last', Buffer.from('bytes'))))
    const from = disk.operations.length
    await pause(MARK_MILLISECONDS)
    t.same(
      disk.operations.slice(from).filter(({ path }) => path === store.paths.head),
      [],
      'it is left alone',
    )
    disk.fault = () => undefined
    await store.kill()
    const again = await openTestStore(store.paths.root, { segmentBytes })
    t.same(await readObject(again, 'marked', 'key-0'), Buffer.from('bytes'), 'and the store opens again')
    await again.close(true)
  }
  const failsToMark = async () => {
    const disk = new FaultDisk()
    const store = await openTestStore(join(root, 'mark'), {}, disk)
    await store.client.execute(createBucket('marked'))
    disk.fault = ({ name, path }) =>
      name === 'sync' && path === store.paths.head ? { kind: 'error', error: inputOutputError() } : undefined
    await pause(MARK_MILLISECONDS)
    t.same(store.failures.map(nameOf), ['JournalPoisonedError'], 'a mark that cannot be written ends the engine')
    await store.kill()
  }
  await Promise.all([follows(), failsToSeal(), failsToMark()])
})
