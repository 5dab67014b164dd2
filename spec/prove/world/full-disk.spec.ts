/** A full disk in a world, and stores that do not notice it. */
import * as fc from 'fast-check'
import { test } from 'tap'
import type { Disk } from '../../../engine/disk/disk.ts'
import { placeChoice } from '../../model/choices.ts'
import { altered } from '../mutants/altered.ts'
import { Filling, type Level, requestOnFull } from './full-disk.ts'
import { runWorld, type WorldOptions, type WorldReport } from './world.ts'

const LEVELS: readonly Level[] = ['below the reserve', 'without room for changes']
const REQUESTS = 40

function onFull(level: Level, options: WorldOptions = {}): Promise<WorldReport> {
  const requests = fc.sample(fc.tuple(requestOnFull, placeChoice), { seed: 1, numRuns: REQUESTS })
  return runWorld({ seed: 1, steps: 0 }, { ...options, steps: [new Filling(level, requests)] })
}

for (const level of LEVELS) {
  test(`${level}: what needs room is refused and changes nothing, and the rest goes on`, async (t) => {
    const { finding, tally } = await onFull(level)
    t.equal(finding, undefined)
    t.ok((tally.counts.get(`full disk, ${level}`)?.done ?? 0) > 0, 'requests were refused')
  })
}

function blind(disk: Disk): Disk {
  return altered<Disk>(disk, { space: () => ({ capacityBytes: 1024 ** 3, availableBytes: 48 * 1024 ** 2 }) })
}

test('a store that does not see how little is free is found out', async (t) => {
  for (const level of LEVELS) {
    const { finding } = await onFull(level, { wrap: blind })
    t.match(finding, /\/ready says that nothing is degraded/, level)
  }
})
