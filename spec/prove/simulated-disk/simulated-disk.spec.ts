import { type Test, test } from 'tap'
import { DiskFullError, ShortWriteError } from '../../../engine/disk/disk.ts'
import { Random } from '../../support/random.ts'
import { byChance, nothingLands } from './crash-choices.ts'
import { PowerCutError, SimulatedDisk } from './simulated-disk.ts'

const ROOT = '/simulated'
const SECTOR = 512

/** A disk with a durable file of so many sectors, all of one letter. */
function diskWith(name: string, letter: string, sectors: number): SimulatedDisk {
  const disk = new SimulatedDisk(ROOT)
  const file = disk.create(`${ROOT}/${name}`)
  file.writeAt(Buffer.alloc(sectors * SECTOR, letter), 0)
  file.sync()
  disk.syncDirectory(ROOT)
  return disk
}

/** Every outcome as text: each file with the first letter of each sector; a dot is a zero. Sorted, each once. */
function outcomes(disk: SimulatedDisk): string[] {
  const told = Array.from(disk.everyCrash(1000), (crashed) =>
    Array.from(crashed.contents(), ([path, bytes]) => {
      const letters = Array.from({ length: Math.ceil(bytes.length / SECTOR) }, (_, at) => bytes[at * SECTOR] ?? 0)
      const text = letters.map((byte) => (byte === 0 ? '.' : byte === 0xa5 ? '?' : String.fromCharCode(byte))).join('')
      return `${path.slice(ROOT.length + 1)}=${text}`
    }).join(' '),
  )
  return [...new Set(told)].toSorted()
}

function same(t: Test, disk: SimulatedDisk, expected: readonly string[]): void {
  t.same(outcomes(disk), expected.toSorted())
}

test('X1 what was synced is kept, whatever a crash decides', (t) => {
  const disk = diskWith('a', 'x', 3)
  same(t, disk, ['a=xxx'])
  t.same(disk.pending(), [])
  t.end()
})

test('X1 each sector that was written is any of its versions', (t) => {
  const disk = diskWith('a', 'x', 3)
  const file = disk.openToWrite(`${ROOT}/a`)
  file.writeAt(Buffer.alloc(2 * SECTOR, 'y'), 0)
  file.writeAt(Buffer.alloc(SECTOR, 'z'), 0)
  same(t, disk, ['a=xxx', 'a=yxx', 'a=zxx', 'a=xyx', 'a=yyx', 'a=zyx'])
  t.same(
    disk.pending().map(({ what, detail, options }) => [what, detail, options]),
    [
      ['sector', '0', 3],
      ['sector', '1', 2],
    ],
  )
  file.sync()
  same(t, disk, ['a=zyx'])
  t.end()
})

test('X1 a length lands without its data, as zeros or as what a removed file had there', (t) => {
  const disk = diskWith('a', 'x', 1)
  disk.openToWrite(`${ROOT}/a`).writeAt(Buffer.alloc(SECTOR, 'y'), SECTOR)
  same(t, disk, ['a=x', 'a=x.', 'a=xy', 'a=x?'])
  const after = diskWith('b', 'old', 2)
  after.remove(`${ROOT}/b`)
  after.syncDirectory(ROOT)
  const file = after.create(`${ROOT}/c`)
  after.syncDirectory(ROOT)
  file.writeAt(Buffer.alloc(SECTOR, 'y'), 0)
  same(t, after, ['c=', 'c=.', 'c=y', 'c=o'])
  t.end()
})

test('X1 a cut that was not synced may not have happened', (t) => {
  const disk = diskWith('a', 'x', 2)
  disk.openToWrite(`${ROOT}/a`).truncate(SECTOR)
  same(t, disk, ['a=x', 'a=xx', 'a=x.'])
  t.end()
})

test('X1 J9 any subset of the operations on names', (t) => {
  const disk = diskWith('a', 'x', 1)
  disk.create(`${ROOT}/b`)
  disk.remove(`${ROOT}/a`)
  same(t, disk, ['', 'a=x', 'a=x b=', 'b='])
  disk.syncDirectory(ROOT)
  same(t, disk, ['b='])
  t.end()
})

test('X1 a rename lands whole within a directory, and in two parts between two', (t) => {
  const disk = diskWith('a', 'x', 1)
  disk.rename(`${ROOT}/a`, `${ROOT}/b`)
  same(t, disk, ['a=x', 'b=x'])
  disk.syncDirectory(ROOT)
  disk.makeDirectory(`${ROOT}/d`)
  disk.rename(`${ROOT}/b`, `${ROOT}/d/c`)
  same(t, disk, ['b=x d/=', 'b=x d/= d/c=x', 'd/=', 'd/= d/c=x'])
  disk.syncDirectory(`${ROOT}/d`)
  same(t, disk, ['b=x d/= d/c=x', 'd/= d/c=x'])
  t.end()
})

test('X1 a file that replaced another is the one or the other', (t) => {
  const disk = diskWith('a', 'x', 1)
  const file = disk.create(`${ROOT}/new`)
  file.writeAt(Buffer.alloc(SECTOR, 'y'), 0)
  file.sync()
  disk.syncDirectory(ROOT)
  disk.rename(`${ROOT}/new`, `${ROOT}/a`)
  same(t, disk, ['a=x new=y', 'a=y'])
  t.end()
})

test('X1 a file that is sealed is read-only when it is durable', (t) => {
  const disk = diskWith('a', 'x', 1)
  disk.openToWrite(`${ROOT}/a`).seal()
  t.throws(() => disk.crash(nothingLands).openToWrite(`${ROOT}/a`), { code: 'EACCES' })
  t.end()
})

test('J7 a sync that failed and lies: read new, read old after the power was gone', (t) => {
  const disk = diskWith('a', 'x', 1)
  const file = disk.openToWrite(`${ROOT}/a`)
  file.writeAt(Buffer.alloc(SECTOR, 'y'), 0)
  disk.failSync(`${ROOT}/a`, nothingLands)
  file.sync()
  t.same(outcomes(disk), ['a=x'])
  t.equal(String(disk.contents().get(`${ROOT}/a`)?.subarray(0, 1)), 'y')
  t.equal(String(disk.clone().contents().get(`${ROOT}/a`)?.subarray(0, 1)), 'y')
  t.end()
})

test('a clone goes its own way, with all that is not synced', (t) => {
  const disk = diskWith('a', 'x', 1)
  const file = disk.openToWrite(`${ROOT}/a`)
  file.writeAt(Buffer.alloc(SECTOR, 'y'), 0)
  const clone = disk.clone()
  file.sync()
  same(t, clone, ['a=x', 'a=y'])
  clone.remove(`${ROOT}/a`)
  same(t, disk, ['a=y'])
  t.end()
})

test('the power goes at an operation, and nothing happens after it', async (t) => {
  const disk = diskWith('a', 'x', 1)
  const file = disk.openToWrite(`${ROOT}/a`)
  disk.left = 2
  file.writeAt(Buffer.alloc(SECTOR, 'y'), 0)
  t.throws(() => file.sync(), PowerCutError)
  await t.rejects(disk.createAsync(`${ROOT}/b`), PowerCutError)
  disk.remove(`${ROOT}/a`)
  file.close()
  same(t, disk, ['a=x', 'a=y'])
  t.end()
})

test('a full disk takes a part of a write, and then nothing that needs room', (t) => {
  const disk = diskWith('a', 'x', 2)
  const file = disk.openToWrite(`${ROOT}/a`)
  disk.roomBytes = 100
  t.throws(() => file.writeAt(Buffer.alloc(SECTOR, 'y'), 2 * SECTOR), ShortWriteError)
  t.equal(file.size(), 2 * SECTOR + 100)
  t.throws(() => file.writeAt(Buffer.alloc(SECTOR, 'y'), file.size()), DiskFullError)
  file.writeAt(Buffer.alloc(SECTOR, 'z'), 0)
  t.end()
})

test('damage lies over what is read until it is written again', (t) => {
  const disk = diskWith('a', 'x', 2)
  const node = disk.file(`${ROOT}/a`)
  node?.damage(0, { kind: 'changed', bytes: Buffer.alloc(SECTOR, 'w') })
  node?.damage(1, { kind: 'lost' })
  const file = disk.crash(nothingLands).openToWrite(`${ROOT}/a`)
  const bytes = Buffer.alloc(SECTOR)
  file.readAt(bytes, 0, SECTOR)
  t.equal(bytes.toString('latin1', 0, 1), 'w')
  t.throws(() => file.readAt(bytes, SECTOR, SECTOR), { code: 'EIO' })
  file.writeAt(Buffer.alloc(SECTOR, 'y'), SECTOR)
  t.equal(file.readAt(bytes, SECTOR, SECTOR), SECTOR)
  t.end()
})

test('chance gives nothing that is not legal, and in the end all that is', (t) => {
  const disk = diskWith('a', 'x', 2)
  disk.openToWrite(`${ROOT}/a`).writeAt(Buffer.alloc(2 * SECTOR, 'y'), SECTOR)
  disk.remove(`${ROOT}/a`)
  disk.create(`${ROOT}/b`)
  const random = new Random(7)
  const seen = new Set<string>()
  for (let count = 0; count < 500; count += 1) seen.add(outcomes(disk.crash(byChance(random))).join())
  t.same([...seen].toSorted(), outcomes(disk))
  t.end()
})

test('too many outcomes are no outcomes', (t) => {
  const disk = diskWith('a', 'x', 12)
  disk.openToWrite(`${ROOT}/a`).writeAt(Buffer.alloc(12 * SECTOR, 'y'), 0)
  t.throws(() => [...disk.everyCrash(4095)], RangeError)
  t.equal([...disk.everyCrash(4096)].length, 4096)
  t.end()
})
