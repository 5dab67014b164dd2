import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { createBucket } from '../../support/commands.ts'
import { Random } from '../../support/random.ts'
import { openTestStore } from '../../support/test-store.ts'
import { byChance } from '../simulated-disk/crash-choices.ts'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { verifyImage } from './journal-image.ts'

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
