/** Golden journal 2: every kind of change, and every form of their fields. */
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { verifyJournal } from '../../cli/journal-verify/journal-verifier.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { encodeChange } from '../../engine/events/change-codec.ts'
import { type Change, CHANGE_KIND } from '../../engine/events/changes.ts'
import { AccessReader } from '../../projections/access-reader.ts'
import { checkProjections } from '../../projections/check.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { goldenOfAccess } from '../support/golden-access.ts'
import {
  GOLDEN_BOOT_ID,
  GOLDEN_DEPLOYMENT,
  GOLDEN_MASTER_KEY,
  GOLDEN_SEGMENT_BYTES,
} from '../support/golden-history.ts'
import { GOLDEN_LIVES } from '../support/golden-lives.ts'
import { makeGolden } from '../support/golden-maker.ts'
import { goldenOfCatalog } from '../support/golden-state.ts'
import type { GoldenVersions } from '../support/golden-versions.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore, roomyDisk } from '../support/test-store.ts'

const GOLDEN = 'spec/golden'
const JOURNAL = join(GOLDEN, 'journal-v2')
const expected = JSON.parse(readFileSync(join(JOURNAL, 'expected.json'), 'utf8')) as GoldenVersions

function changesOf(directory: string): readonly (readonly [sequence: number, changes: readonly Change[]])[] {
  const all = journalEntries(directory).map(({ sequence, changes }) => [sequence, changes] as const)
  return all.filter(([, changes]) => changes.length > 0)
}

/** A copy of a golden journal; opening it makes the projections. */
function copyGolden(root: string, name: string): StorePaths {
  const paths = new StorePaths(root)
  cpSync(join(GOLDEN, name, 'journal'), paths.journal, { recursive: true })
  mkdirSync(paths.volumes, { recursive: true })
  return paths
}

test('golden journal 2 opens and gives exactly the state it was made with', async (t) => {
  const paths = copyGolden(t.testdir(), 'journal-v2')
  t.match(await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 }), {
    intact: true,
    records: expected.head.sequence + 1,
    headHash: expected.head.hash,
    deploymentId: GOLDEN_DEPLOYMENT.toString('hex'),
    mark: { sequence: expected.head.sequence, cleanStop: true },
    notes: [],
  })
  const identity = { masterKey: GOLDEN_MASTER_KEY, segmentBytes: GOLDEN_SEGMENT_BYTES, bootId: GOLDEN_BOOT_ID }
  const store = await openTestStore(paths.root, identity)
  t.match(store.report, { created: false, replayedRecords: expected.head.sequence + 1, cut: undefined })
  t.same(goldenOfCatalog(store.catalog), expected.state)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  t.same(goldenOfAccess(new AccessReader(environment)), expected.access)
  await environment.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journals have every kind of change, and every form of its fields', async (t) => {
  const all = changesOf(JOURNAL).flatMap(([, changes]) => changes)
  const kinds = new Set(all.map(({ name }) => CHANGE_KIND[name]))
  t.same(
    [...kinds].toSorted((left, right) => left - right),
    Object.values(CHANGE_KIND),
  )
  const forms = new Set(all.flatMap((change) => formsOf(encodeChange(change))))
  for (const form of [
    '1: 3 fields',
    '1: 4 fields',
    '3: 9 fields',
    '3: 10 fields',
    '3: 11 fields',
    'payload [0] of 2',
    'payload [1] of 6',
    'payload [1] of 7',
    'payload [2] of 4',
    'payload [2] of 5',
  ]) {
    t.ok(forms.has(form), form)
  }
})

/** Number of fields, and the kind and length of the payload. */
function formsOf(stored: readonly unknown[]): string[] {
  const [kind] = stored
  // The payload stands at the same place in a written object and in a written part.
  const payload = kind === 3 || kind === 16 ? stored[8] : undefined
  const forms = [`${String(kind)}: ${stored.length - 1} fields`]
  if (Array.isArray(payload)) forms.push(`payload [${String(payload[0])}] of ${payload.length}`)
  return forms
}

test('the same life today is written with the same bytes: what is there is read as it was meant', async (t) => {
  for (const [name, life] of Object.entries(GOLDEN_LIVES)) {
    const root = join(t.testdir(), name)
    mkdirSync(root)
    await makeGolden(root, life)
    t.same(changesOf(root), changesOf(join(GOLDEN, name)), `${name}: the changes`)
    for (const file of readdirSync(join(GOLDEN, name, 'journal')).filter((one) => one.endsWith('.segment'))) {
      const [written, golden] = [join(root, 'journal', file), join(GOLDEN, name, 'journal', file)]
      t.ok(readFileSync(written).equals(readFileSync(golden)), `${name}: ${file} is the same`)
    }
  }
})
