/**
 * A pass whose disk fails at one of its writes or syncs, and whose process is killed then: what the journal says was removed is
 * removed, nothing else is, and the next start removes the rest, each version once.
 * Proves: RES-RUL-08, API-RUL-08.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { checkProjections } from '../../../projections/replay/check.ts'
import { createBucket, write } from '../../support/commands.ts'
import { FaultDisk, inputOutputError, noSpaceError, type Operation } from '../../support/disks/fault-disk.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { createRule, DAY, runPass } from '../../support/lifecycle.ts'
import { openTestStore, OTHER_BOOT_ID, roomyDisk, type TestStore } from '../../support/test-store.ts'
import { setLegalHold, setVersioning } from '../../support/version-commands.ts'

const START = Date.parse('2126-01-02T03:04:05Z')
const NOW = START + 3 * DAY
const BYTES = Buffer.from('bytes')
const OBJECTS = 150
const DUE = 151
async function prepare(root: string): Promise<void> {
  const store = await openTestStore(root, { clock: () => START * 1000 })
  const { client } = store
  await client.execute(createBucket('plain'))
  await client.execute({ ...createBucket('locked'), lockEnabled: true })
  await client.execute(setVersioning('locked', 'enabled'))
  await Promise.all(
    Array.from({ length: OBJECTS }, async (_, index) => client.execute(write('plain', `key-${index}`, BYTES))),
  )
  const { sequence } = await client.execute(write('locked', 'held', BYTES))
  await client.execute(setLegalHold('locked', 'held', true, sequence))
  for (const key of ['held', 'free', 'free']) await client.execute(write('locked', key, BYTES))
  await client.execute(createRule('plain', 'r1', { expirationDays: 2 }))
  await client.execute(createRule('locked', 'r2', { noncurrentDays: 2 }))
  await store.close(true)
}

/** Objects and noncurrent versions that are there. */
function standing(store: TestStore): number {
  const snapshot = store.catalog.snapshot()
  return snapshot.buckets().reduce((sum, { id }) => {
    const { objects, noncurrent } = snapshot.bucketUsage(id)
    return sum + objects + noncurrent
  }, 0)
}

function records(root: string, operation: RegExp): string[] {
  return journalEntries(root).flatMap(({ operation: name, result, changes }) =>
    operation.test(name) && result === 'success' ? changes.map((change) => JSON.stringify(change)) : [],
  )
}

interface Fault {
  /** Which of the writes and syncs. */
  readonly at: number
  readonly error: () => Error
  /** It takes place all the same. */
  readonly isDone: boolean
  /** Another one is that after a power cut: the projections are made again from the journal. */
  readonly bootId: string | undefined
}

async function tryFault(root: string, { at, error, isDone, bootId }: Fault): Promise<string[]> {
  const disk = new FaultDisk(roomyDisk)
  const store = await openTestStore(root, { clock: () => NOW * 1000 }, disk)
  const all = standing(store)
  await disk.idle()
  let operations = 0
  const isAt = ({ name }: Operation) => (name === 'write' || name === 'sync') && (operations += 1) === at
  if (isDone) {
    disk.after = (operation) => {
      if (isAt(operation)) throw error()
    }
  } else disk.fault = (operation) => (isAt(operation) ? { kind: 'error', error: error() } : undefined)
  await runPass(store, { now: NOW }).catch(() => undefined)
  disk.fault = () => undefined
  disk.after = () => undefined
  await store.kill().catch(() => undefined)

  const wrong: string[] = []
  const again = await openTestStore(root, { clock: () => NOW * 1000, ...(bootId !== undefined && { bootId }) })
  const removed = records(root, /^lifecycle\.expire/).length
  if (standing(again) !== all - removed)
    wrong.push(`${removed} removals are recorded, ${all - standing(again)} were made`)
  await runPass(again, { now: NOW })
  const sequence = again.journal.position.sequence
  await runPass(again, { now: NOW })
  if (again.journal.position.sequence !== sequence) wrong.push('there was something left to do')
  if (standing(again) !== all - DUE) wrong.push(`${all - standing(again)} versions are gone, not ${DUE}`)
  await again.close(true)
  const removals = records(root, /^lifecycle\.expire/)
  if (removals.length !== DUE || new Set(removals).size !== DUE) wrong.push(`${removals.length} removals are recorded`)
  const skips = records(root, /^lifecycle\.skip/)
  if (skips.length !== 1) wrong.push(`${skips.length} skips are recorded`)
  if ((await checkProjections(roomyDisk, again.paths)).differenceCount > 0) wrong.push('the projections differ')
  return wrong
}

/** The batches of a pass are written and synced one after the other: two of the first rule, one of the second. */
const FAULTS: readonly Fault[] = [
  { at: 1, error: inputOutputError, isDone: false, bootId: undefined },
  { at: 2, error: inputOutputError, isDone: true, bootId: undefined },
  { at: 3, error: noSpaceError, isDone: false, bootId: OTHER_BOOT_ID },
  { at: 4, error: inputOutputError, isDone: false, bootId: OTHER_BOOT_ID },
  { at: 5, error: inputOutputError, isDone: true, bootId: undefined },
  { at: 6, error: inputOutputError, isDone: false, bootId: undefined },
]

test('a pass that fails at any moment loses nothing and repeats nothing', async (t) => {
  const root = t.testdir()
  await prepare(join(root, 'begin'))
  for (const fault of FAULTS) {
    const directory = join(root, String(fault.at))
    cpSync(join(root, 'begin'), directory, { recursive: true })
    t.same(await tryFault(directory, fault), [], `${fault.error().message}, operation ${fault.at}`)
  }
})
