import { test } from 'tap'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { altered, alteredFiles } from './altered.ts'

test('what is exchanged is exchanged, on every way to a file, and nothing else', async (t) => {
  const plain = new SimulatedDisk('/simulated')
  const syncs: string[] = []
  const disk = alteredFiles(plain, ({ path }) => ({ sync: () => void syncs.push(path) }))
  const made = disk.create('/simulated/a')
  made.writeAt(Buffer.from('abc'), 0)
  made.sync()
  t.equal(made.size(), 3)
  t.equal(made.path, '/simulated/a')
  t.same(plain.pending().length > 0, true, 'the sync that is behind it was not made')
  disk.openToWrite('/simulated/a').sync()
  disk.openToRead('/simulated/a').sync()
  const later = await disk.createAsync('/simulated/b')
  later.sync()
  const read = await disk.openToReadAsync('/simulated/b')
  read.sync()
  t.same(syncs, ['/simulated/a', '/simulated/a', '/simulated/a', '/simulated/b', '/simulated/b'])
  t.same(disk.list('/simulated'), ['a', 'b'])
  t.same(altered(disk, { list: () => ['c'] }).list('/simulated'), ['c'])
})
