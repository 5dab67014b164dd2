import { test } from 'tap'
import type { Disk } from '../../../engine/disk/disk.ts'
import { acknowledgingFirst, FILES, payloadsLast, withoutNames, withoutSync } from '../mutants/broken-disks.ts'
import { everyNth } from '../../support/share-of-cases.ts'
import { ALPHABET } from './alphabet.ts'
import { chosen, CYCLES } from './sequences.ts'
import { Trial } from './trial.ts'

async function found(sequence: readonly string[], wrap?: (disk: Disk) => Disk): Promise<string[]> {
  const trial = new Trial(1, wrap && { name: 'a broken store', wrap })
  try {
    return await trial.run([sequence])
  } finally {
    trial.close()
  }
}

test('X3 nothing is wrong at any moment of a sequence', async (t) => {
  t.same(await found(['part', 'complete']), [])
  t.same(await found(['part & put small']), [])
  // After a crash behind a rotation the last segment has no batch, and the clock stands still.
  t.same(await found(['delete', 'rotate']), [])
})

const BROKEN: Readonly<Record<string, readonly [readonly string[], (disk: Disk) => Disk]>> = {
  'the journal is not synced': [['put small'], (disk) => withoutSync(disk, FILES.journal)],
  'volumes are not synced': [['put small'], (disk) => withoutSync(disk, FILES.volumes)],
  'uploads are not synced': [['put large'], (disk) => withoutSync(disk, FILES.uploads)],
  'names of segments are not synced': [['rotate'], (disk) => withoutNames(disk, /\/journal$/)],
  'names of payload files are not synced': [['put large'], (disk) => withoutNames(disk, /\/payloads\/files/)],
  'acknowledged before the sync': [['delete'], acknowledgingFirst],
  'two in a batch acknowledged before the sync': [['put small & overwrite'], acknowledgingFirst],
  'payloads behind their entries': [['overwrite'], payloadsLast],
}

test('X3 a store that is broken is found out, by the one letter that it takes', async (t) => {
  for (const [name, [sequence, wrap]] of everyNth(Object.entries(BROKEN), 2)) {
    const wrong = await found(sequence, wrap)
    t.ok(wrong.length > 0, `${name}: ${wrong[0]}`)
  }
})

test('so many cycles go through every sequence, each of them once', (t) => {
  const letters = Object.keys(ALPHABET).length
  const all = chosen(CYCLES, 5)
  t.equal(all.length, letters + letters ** 2 + letters ** 3 + (letters - 1) ** 2)
  t.equal(new Set(all.map((sequence) => sequence.join())).size, all.length)
  const one = chosen(1, 5)
  t.ok(one.length > all.length / 12 && one.length < all.length / 6, `${one.length} in one cycle`)
  t.end()
})
