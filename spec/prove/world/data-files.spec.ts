/** The file of projections in memory: what a snapshot copies of them, and what becomes of a copy. */
import { join } from 'node:path'
import { test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { DATA_FILE } from '../../../projections/lmdb-environment.ts'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { MemoryProjections } from '../small-world/memory-projections.ts'
import { withDataFiles } from './data-files.ts'

const paths = new StorePaths('/store')
const FOLLOWER = join(paths.projectionsFollower, DATA_FILE)
const RESTORED = join(paths.projectionsRestore, DATA_FILE)
const TABLES = new Map([
  ['empty', []],
  [
    'some',
    [
      { key: Buffer.from('a'), value: Buffer.alloc(0) },
      { key: Buffer.of(0xff), value: Buffer.from('value') },
    ],
  ],
])

function start() {
  const projections = new MemoryProjections()
  projections.commit(paths.projectionsFollower, TABLES)
  const plain = new SimulatedDisk(paths.root)
  return { projections, plain, disk: withDataFiles(plain, projections, paths) }
}

function readAll(disk: ReturnType<typeof start>['disk'], path: string): Buffer {
  const file = disk.openToRead(path)
  const bytes = Buffer.alloc(file.size())
  file.readAt(bytes, 0, bytes.length)
  file.close()
  return bytes
}

test('a copy of the file has the rows, whatever follows them', (t) => {
  const { projections, disk } = start()
  const bytes = readAll(disk, FOLLOWER)
  const copy = disk.create(RESTORED)
  copy.writeAt(bytes.subarray(0, 5), 0)
  copy.writeAt(bytes.subarray(5), 5)
  copy.writeAt(Buffer.from('an end'), bytes.length)
  t.notOk(projections.has(paths.projectionsRestore), 'rows are there when the file is closed')
  copy.close()
  t.same(projections.committed(paths.projectionsRestore), TABLES)
  t.end()
})

test('a file that is renamed is the rows, and is gone under its old name', (t) => {
  const { projections, plain, disk } = start()
  const snapshot = join(paths.root, 'snapshot')
  const written = disk.create(snapshot)
  written.writeAt(Buffer.concat([readAll(disk, FOLLOWER), Buffer.from('an end')]), 0)
  written.close()
  disk.rename(snapshot, RESTORED)
  t.same(projections.committed(paths.projectionsRestore), TABLES)
  t.notOk(plain.exists(snapshot))
  t.end()
})
