import { test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { damageSomething } from './damage.ts'

const paths = new StorePaths('/simulated')

function filledDisk(): SimulatedDisk {
  const disk = new SimulatedDisk(paths.root)
  for (const [index, path] of [paths.segment(0), paths.segment(9), paths.volume(0), paths.file('aa')].entries()) {
    disk.makeDirectory(path.slice(0, path.lastIndexOf('/')))
    disk.create(path).writeAt(sampleBytes(1300, index), 0)
  }
  return disk
}

test('damage of every kind changes what is read at the places that it names', (t) => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 100; seed += 1) {
    const disk = filledDisk()
    const damage = damageSomething(disk, paths, new Random(seed))
    if (damage === undefined) continue
    seen.add(damage.kind)
    for (const { path, position } of damage.places) {
      const node = disk.file(path)
      const part = (bytes: Buffer = Buffer.alloc(0)) => bytes.subarray(position, Math.ceil((position + 1) / 512) * 512)
      const isPast = position >= disk.sizeOf(path)
      t.equal(part(node?.bytes()).equals(part(node?.damagedBytes())), isPast, `${damage.kind} at ${position}`)
    }
  }
  t.same([...seen].toSorted(), ['bit rot', 'lost sector', 'misdirected write', 'write that never came'])
  t.end()
})

test('what holds nothing is not damaged', (t) => {
  t.equal(damageSomething(new SimulatedDisk(paths.root), paths, new Random(1)), undefined)
  t.end()
})
