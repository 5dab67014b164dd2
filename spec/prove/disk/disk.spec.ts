/** Lives and damage that the proof tries, at small size. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { sequenceOf, volumeNumberOf } from '../../../engine/brands.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { createBucket } from '../../support/commands.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { openTestStore } from '../../support/test-store.ts'
import { byChance } from '../simulated-disk/crash-choices.ts'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { UNBROKEN } from './breakage.ts'
import { damageSomething } from './damage.ts'
import { emptyTally } from './findings.ts'
import { Intervals } from './intervals.ts'
import { verifyImage } from './journal-image.ts'
import { runSeed } from './seed.ts'

const paths = new StorePaths('/simulated')

function filledDisk(): SimulatedDisk {
  const disk = new SimulatedDisk(paths.root)
  for (const [index, path] of [
    paths.segment(sequenceOf(0)),
    paths.segment(sequenceOf(9)),
    paths.volume(volumeNumberOf(0)),
    paths.file('a'.repeat(28)),
  ].entries()) {
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

const SIZES = { segmentBytes: 16 * 1024, volumeBytes: 16 * 1024 }

test('J9 J16 a first start that loses power at any operation can be made again', async (t) => {
  t.testdir()
  const random = new Random(1)
  let wasOn = false
  for (let operations = 1; !wasOn; operations += 1) {
    const root = join(t.testdirName, String(operations))
    mkdirSync(root)
    const first = new SimulatedDisk(root)
    first.left = operations
    const store = await openTestStore(root, { ...SIZES, bootId: 'first' }, first).catch(() => undefined)
    wasOn = first.isOn
    first.left = 0
    await store?.kill()
    const second = first.crash(byChance(random))
    const again = await openTestStore(root, { ...SIZES, bootId: 'second' }, second)
    await again.client.execute(createBucket('cut'))
    await again.close(true)
    t.match(await verifyImage(second, new StorePaths(root)), { intact: true, problems: [] }, `operation ${operations}`)
  }
})

function refuseToWork(): never {
  throw new Error('not today')
}

test('a seed does the same again', async (t) => {
  const directory = t.testdir()
  const intervals = new Intervals()
  t.teardown(() => intervals.restore())
  for (const seed of [3, 4]) {
    const first = await runSeed(seed, directory, intervals)
    t.same(first.findings, [])
    t.not(first.tally.crashes, emptyTally().crashes)
    t.same(await runSeed(seed, directory, intervals), first, `seed ${seed}`)
  }
})

test('what a store does wrong is found, and its directory is removed', async (t) => {
  const directory = t.testdir()
  const intervals = new Intervals()
  t.teardown(() => intervals.restore())
  const { findings } = await runSeed(1, directory, intervals, { ...UNBROKEN, wrap: refuseToWork })
  t.match(findings, [{ kind: 'lost', text: /does not open: Error: not today/ }])
  t.same(await runSeed(1, directory, intervals, { ...UNBROKEN, wrap: refuseToWork }), { tally: emptyTally(), findings })
})

test('intervals are called back when they are told to, and are the real ones again in the end', (t) => {
  const real = globalThis.setInterval
  const intervals = new Intervals()
  let called = 0
  const handle = setInterval(() => {
    called += 1
  }, 1000)
  intervals.tick()
  intervals.tick()
  clearInterval(handle)
  intervals.tick()
  t.equal(called, 2)
  intervals.restore()
  t.equal(globalThis.setInterval, real)
  t.end()
})
