/**
 * No sequence of commands destroys a version that a lock protects, and none frees one before its time (S7, W4).
 * Proves: STA-LCK-05, STA-LCK-06, S3-LCK-19.
 */
import { TABLES } from '../../projections/tables/table-list.ts'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { bucketIdOf, millisecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { Command } from '../../engine/commands/commands.ts'
import type { Done } from '../../engine/commands/done.ts'
import type { LockState, Retention } from '../../engine/events/values.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { decodeLockRow } from '../../projections/tables/locks.ts'
import { keyOfOrderedRow } from '../../projections/tables/version-keys.ts'
import { sequenceOfRow } from '../../projections/tables/versions.ts'
import { createBucket, write } from '../support/commands.ts'
import { StoreModel, TOLERANCE_MILLISECONDS } from '../support/model/store-model.ts'
import type { Group } from '../support/model/step-recipes.ts'
import { lockHistory } from '../support/model/store-steps.ts'
import { runsOf } from '../support/share-of-cases.ts'
import { openTestStore, type TestStore } from '../support/test-store.ts'
import { deleteVersion, setDefaultRetention, setRetention } from '../support/version-commands.ts'

const BYTES = Buffer.from('bytes')
const NOW = Date.parse('2126-01-02T03:04:05Z')
const DAY = 24 * 60 * 60 * 1000
const LAST = Date.parse('9999-12-31T23:59:59.999Z')
const RUNS = runsOf(20, 7)

interface Found {
  readonly bucketId: number
  readonly key: string
  readonly sequence: number
  readonly lock: LockState
}

/** Every row of the lock table. */
async function lockRows(store: TestStore): Promise<Found[]> {
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const rows = Array.from(environment.table(TABLES.locks).rows({}), ({ key, value }) => ({
    bucketId: key.readUIntBE(2, 6),
    key: keyOfOrderedRow(key),
    sequence: sequenceOfRow(key),
    lock: decodeLockRow(value),
  }))
  await environment.close()
  return rows
}

/** What one step did to a lock that it may not have done; undefined when nothing. */
function wrongWith(before: Found, after: Found | undefined, step: Group['steps'][number], model: StoreModel) {
  const { retention, hold } = before.lock
  const bypasses = (step.kind === 'delete' || step.kind === 'retain') && step.bypass
  const isRetained = retention !== undefined && (model.clockIsBehind || model.now < retention.untilMilliseconds)
  const mayBypass = bypasses && retention?.mode === 'GOVERNANCE' && !model.clockIsBehind
  if (after === undefined) {
    if (hold === true) return 'destroyed under a legal hold'
    return isRetained && !mayBypass ? 'destroyed under retention' : undefined
  }
  if (hold === true && after.lock.hold !== true && step.kind !== 'hold') return 'lost its legal hold'
  if (!isRetained || mayBypass) return undefined
  const now = after.lock.retention
  if (now === undefined || now.untilMilliseconds < retention.untilMilliseconds) return 'is retained for a shorter time'
  return retention.mode === 'COMPLIANCE' && now.mode === 'GOVERNANCE' ? 'has a weaker retention' : undefined
}

test('S7 W4 whatever is asked for, what a lock protects stays', async (t) => {
  const root = t.testdir()
  let runs = 0
  let looked = 0
  await fc.assert(
    fc.asyncProperty(lockHistory, async (groups) => {
      const model = new StoreModel()
      const store = await openTestStore(join(root, String((runs += 1))), { clock: model.clock })
      let before: Found[] = []
      for (const group of groups) {
        const wrong = await model.run(store, group)
        const rows = await lockRows(store)
        const after = new Map(rows.map((row) => [row.sequence, row]))
        const [step] = group.steps
        for (const row of before) {
          const fault = step && wrongWith(row, after.get(row.sequence), step, model)
          if (fault !== undefined) wrong.push(`${row.sequence} ${JSON.stringify(row.lock)} ${fault}`)
          looked += 1
        }
        for (const { bucketId, key, sequence } of rows) {
          const there = store.catalog.snapshot().version(bucketIdOf(bucketId), key, sequenceOf(sequence))
          if (there === undefined) wrong.push(`${sequence} has a lock and is not there`)
        }
        before = rows
        if (wrong.length > 0) throw new Error(`${JSON.stringify(group)}: ${wrong.join('; ')}`)
      }
      await store.close(true)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  t.equal(runs, RUNS)
  t.ok(looked > RUNS, `${looked} looks at a lock`)
})

/** A store with the locked bucket `kept`, whose clock a spec sets. Milliseconds. */
async function lockedStore(root: string) {
  const clock = { milliseconds: NOW }
  const store = await openTestStore(root, { clock: () => clock.milliseconds * 1000 })
  const execute = (command: Command): Promise<Done> => store.client.execute(command)
  const outcome = (command: Command): Promise<string> =>
    execute(command).then(
      () => 'done',
      (error: { readonly code: string }) => error.code,
    )
  await execute({ ...createBucket('kept'), lockEnabled: true })
  const put = async (retention: Retention | undefined, hold?: boolean) =>
    execute({ ...write('kept', 'key', BYTES), lock: { retention, hold } })
  return { store, clock, execute, outcome, put }
}

test('W4 the time of the journal counts also after a start with a clock that was set back', async (t) => {
  const root = t.testdir()
  const { store, clock, execute, put } = await lockedStore(root)
  const { version = 'unknown' } = await put({ mode: 'COMPLIANCE', untilMilliseconds: millisecondsOf(NOW + 1000) })
  clock.milliseconds = NOW + 1000
  await execute({
    kind: 'record-server-event',
    audit: write('x', 'y', BYTES).audit,
    changes: [{ name: 'clock.observed' }],
  })
  await store.close(true)
  const earlier = await openTestStore(root, { clock: () => (NOW - DAY) * 1000 })
  await t.rejects(earlier.client.execute(deleteVersion('kept', 'key', version)), { code: 'clock-behind' })
  await earlier.close(true)
  const again = await openTestStore(root, { clock: () => (NOW + 1000 - TOLERANCE_MILLISECONDS) * 1000 })
  await again.client.execute(deleteVersion('kept', 'key', version))
  await again.close(true)
})

test('S7 a retention to the end of the year 9999 is kept to the millisecond', async (t) => {
  const root = t.testdir()
  const { store, execute, outcome, put } = await lockedStore(root)
  const { version = 'unknown' } = await put({ mode: 'COMPLIANCE', untilMilliseconds: millisecondsOf(LAST) })
  t.equal(await outcome(deleteVersion('kept', 'key', version, true)), 'compliance-retention')
  t.equal(
    await outcome(
      setRetention('kept', 'key', { mode: 'COMPLIANCE', untilMilliseconds: millisecondsOf(LAST - 1) }, version),
    ),
    'compliance-retention',
  )
  await execute(setDefaultRetention('kept', { mode: 'COMPLIANCE', unit: 'years', value: 7000 }))
  const { version: byDefault = 'unknown' } = await execute(write('kept', 'key', BYTES))
  await store.close(true)
  const again = await openTestStore(root, { clock: () => NOW * 1000 })
  const id = again.catalog.snapshot().bucket('kept')?.id ?? 0
  t.same(again.catalog.snapshot().version(bucketIdOf(id), 'key', version)?.lock?.retention, {
    mode: 'COMPLIANCE',
    untilMilliseconds: LAST,
  })
  t.equal(
    again.catalog.snapshot().version(bucketIdOf(id), 'key', byDefault)?.lock?.retention?.untilMilliseconds,
    NOW + 7000 * 365 * DAY,
  )
  await again.close(true)
})
