/** Payloads stay while a backup holds the store, and no longer (decision 0107). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { PayloadRemoval } from '../../cli/server/store/payload-removal.ts'
import { volumeNumberOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { holdStore, isHeld, mayBeHeld } from '../../engine/disk/store-holds.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { PayloadFileSweep } from '../../workers/sweep-payload-files.ts'

const HOLDS_MODULE = new URL('../../engine/disk/store-holds.js', import.meta.url)
const DISK_MODULE = new URL('../../engine/disk/node-disk.js', import.meta.url)
const PATHS_MODULE = new URL('../../engine/disk/store-paths.js', import.meta.url)
const NAME = 'ab'.repeat(14)
const VOLUME = volumeNumberOf(3)
const LOOKS_MAXIMUM = 3000

function storeWithPayloads(t: Test): { readonly paths: StorePaths; readonly files: readonly string[] } {
  const paths = new StorePaths(t.testdir())
  const files = [paths.file(NAME), paths.volume(VOLUME)]
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'bytes')
  }
  return { paths, files }
}

const released = { files: [NAME], volumes: [VOLUME] }

/** Which of the files are there, after removals had time. @param removal looks again, as a server does every second */
async function settled(files: readonly string[], expected: boolean, removal?: PayloadRemoval): Promise<boolean[]> {
  for (let look = 0; look < LOOKS_MAXIMUM && files.some((file) => existsSync(file) !== expected); look += 1) {
    // A look that is under way began before the hold ended.
    removal?.look()
    await pause(10)
  }
  return files.map((file) => existsSync(file))
}

/** A process that holds the store until it is killed. */
async function holderOf(paths: StorePaths): Promise<() => Promise<void>> {
  const program = `
    const { holdStore } = await import(${JSON.stringify(HOLDS_MODULE)})
    const { nodeDisk } = await import(${JSON.stringify(DISK_MODULE)})
    const { StorePaths } = await import(${JSON.stringify(PATHS_MODULE)})
    await holdStore(nodeDisk, new StorePaths(process.argv[1]))
    process.stdout.write('held')
    setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', program, paths.root], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_OPTIONS: '' },
  })
  await once(holder.stdout as NonNullable<typeof holder.stdout>, 'data')
  return async () => {
    const ended = once(holder, 'exit')
    holder.kill('SIGKILL')
    await ended
  }
}

test('without a hold what is released goes at once', async (t) => {
  const { paths, files } = storeWithPayloads(t)
  const removal = new PayloadRemoval(nodeDisk, paths, () => false)
  removal.remove(released)
  t.same(await settled(files, false), [false, false])
})

test('a held store keeps what is released until the last hold ends', async (t) => {
  const { paths, files } = storeWithPayloads(t)
  const first = await holdStore(nodeDisk, paths)
  const second = await holdStore(nodeDisk, paths)
  const removal = new PayloadRemoval(nodeDisk, paths, () => false)
  removal.remove(released)
  await first.release()
  await first.release()
  removal.look()
  await pause(100)
  t.same(await settled(files, true), [true, true], 'the second one holds it still')
  await second.release()
  t.same(await settled(files, false, removal), [false, false])
})

test('a hold ends with a process that is killed, and its socket is cleared away', async (t) => {
  const { paths, files } = storeWithPayloads(t)
  const kill = await holderOf(paths)
  t.equal(await isHeld(nodeDisk, paths), true)
  const removal = new PayloadRemoval(nodeDisk, paths, () => false)
  removal.remove(released)
  t.same(await settled(files, true), [true, true])
  await kill()
  t.equal(mayBeHeld(nodeDisk, paths), true, 'the socket is left over')
  t.same(await settled(files, false, removal), [false, false])
  t.equal(mayBeHeld(nodeDisk, paths), false)
})

test('a store that is short of space keeps nothing for anybody', async (t) => {
  const { paths, files } = storeWithPayloads(t)
  const hold = await holdStore(nodeDisk, paths)
  let short = false
  const removal = new PayloadRemoval(nodeDisk, paths, () => short)
  removal.remove(released)
  t.same(await settled(files, true), [true, true])
  short = true
  t.same(await settled(files, false, removal), [false, false])
  await hold.release()
})

test('the sweep of a start waits for the hold of a backup that began before it', async (t) => {
  const { paths, files } = storeWithPayloads(t)
  const hold = await holdStore(nodeDisk, paths)
  const sweep = new PayloadFileSweep(nodeDisk, paths, '0'.repeat(16), () => false)
  t.equal(await sweep.step(), 'idle')
  t.ok(existsSync(files[0] as string))
  await hold.release()
  while ((await sweep.step()) === 'more');
  t.notOk(existsSync(files[0] as string))
})
