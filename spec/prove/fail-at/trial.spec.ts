import { join } from 'node:path'
import { type Test, test } from 'tap'
import type { Disk } from '../../../engine/disk/disk.ts'
import { carelessOfLength, tryingAgain } from '../mutants/broken-disks.ts'
import { withoutNote } from '../mutants/broken-notes.ts'
import { alteredFiles } from '../mutants/altered.ts'
import { sequenceOf } from '../../../engine/brands.ts'
import { DamageList } from '../../../projections/audit/journal-damage.ts'
import { beginningOf, commonBeginning } from './beginnings.ts'
import { isOfRows, nameOfTarget, type Target, targetsOf } from './faults.ts'
import { wrongIn } from './kinds-of-reading.ts'
import { CYCLES, chosen, KINDS_OF_WORK, type KindOfWork } from './kinds-of-work.ts'
import { type Trial, tryWork } from './trial.ts'

async function tried(t: Test, work: string, target: Target | undefined, wrap?: (disk: Disk) => Disk): Promise<Trial> {
  const root = t.testdir()
  const kind = KINDS_OF_WORK.find(({ name }) => name === work) as KindOfWork
  const beginning = await beginningOf(kind, await commonBeginning(root), root)
  return tryWork(kind, beginning, join(root, 'trial'), target, wrap && { name: 'a broken store', wrap })
}

test('X2 every operation can fail in each way that fits it, once and for ever', async (t) => {
  const { operations, lost, wrong } = await tried(t, 'put small', undefined)
  t.same({ lost, wrong }, { lost: [], wrong: [] })
  const look = 'read segment'
  const ofDisk = operations.filter((operation) => !isOfRows(operation.split(' ')[0] ?? ''))
  t.same(ofDisk, [look, 'write volume', 'sync volume', look, 'write segment', 'sync segment'])
  const targets = targetsOf(ofDisk).map(nameOfTarget)
  t.equal(targets.length, 2 * (1 + 4 + 3 + 1 + 4 + 3))
  t.equal(new Set(targets).size, targets.length)
  t.match(targets.slice(2), ['EIO at write volume 1, once', 'EIO at write volume 1, for ever'])
  t.equal(targetsOf(['write a', 'write a']).at(-1)?.occurrence, 2)
})

test('as many cycles as there are go through every kind of work once, from any seed', (t) => {
  const seeds = Array.from({ length: CYCLES }, (_, seed) => seed)
  t.same(seeds.flatMap((seed) => chosen(1, seed)).length, KINDS_OF_WORK.length)
  t.same(new Set(seeds.flatMap((seed) => chosen(1, seed))), new Set(KINDS_OF_WORK))
  t.same(chosen(CYCLES, 20_261_127), KINDS_OF_WORK)
  t.end()
})

/** A store that does not listen to its disk. */
function deaf(disk: Disk): Disk {
  return alteredFiles(disk, (file) => ({
    sync: () => {
      try {
        file.sync()
      } catch {
        // Nobody is told.
      }
    },
  }))
}

const once = (operation: string, kind: Target['kind']): Target => ({ operation, occurrence: 1, kind, lasts: false })

const BROKEN: Readonly<Record<string, readonly [string, Target, (disk: Disk) => Disk]>> = {
  'a sync that is tried again': ['put small', once('sync segment', 'EIO'), tryingAgain],
  'a sync of a volume that is tried again': ['put small', once('sync volume', 'EIO'), tryingAgain],
  'a failed sync that nobody hears of': ['put small', once('sync segment', 'EIO'), deaf],
  'a refused batch that nobody notes': ['put small', once('sync segment', 'EIO, yet done'), withoutNote],
  'a short write that nobody sees': ['put small', once('write segment', 'short write'), carelessOfLength],
  'a short write of a large object': ['put large', once('write upload', 'short write'), carelessOfLength],
  'a rewritten segment that is not synced': ['start after kill', once('sync journal/rewrite', 'EIO'), deaf],
}

test('X2 J7 J10 a store that does not mind its disk is found out', async (t) => {
  for (const [name, [work, target, wrap]] of Object.entries(BROKEN)) {
    const healthy = await tried(t, work, target)
    t.equal(healthy.injected, 1, `${name}: the fault took place`)
    t.same([...healthy.lost, ...healthy.wrong], [])
    const { lost, wrong } = await tried(t, work, target, wrap)
    t.ok(lost.length + wrong.length > 0, `${name}: ${[...lost, ...wrong][0]}`)
  }
})

test('a reader that leaves something out, shows what cannot be read or names no damage is found', (t) => {
  const damage = new DamageList()
  t.equal(wrongIn({ sequences: [1, 3], damage }, [1, 2, 3]), 'it names no damage')
  const place = { segmentFirstSequence: sequenceOf(0), offset: 64 }
  damage.add({ sequence: sequenceOf(2), lastSequence: sequenceOf(3), verdict: 'content changed', detail: '', place })
  t.equal(wrongIn({ sequences: [1, 4], damage }, [1, 2, 3, 4]), undefined)
  t.match(wrongIn({ sequences: [1], damage }, [1, 2, 3, 4]), /leaves out 4/)
  t.match(wrongIn({ sequences: [1, 2, 4], damage }, [1, 2, 3, 4]), /shows 2/)
  t.end()
})
