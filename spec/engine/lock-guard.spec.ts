/** No sequence of commands destroys a version that a lock protects, and none frees one before its time (S7, W4). */
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import type { Command, Done } from '../../engine/commands.ts'
import type { LockState, Retention } from '../../engine/events/changes.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { decodeLockRow, LOCKS } from '../../projections/tables/locks.ts'
import { keyOfOrderedRow } from '../../projections/tables/version-keys.ts'
import { sequenceOfRow } from '../../projections/tables/versions.ts'
import { copyObject, createBucket, deleteBucket, deleteObject, write } from '../support/commands.ts'
import { StoreModel, TOLERANCE_MILLISECONDS } from '../support/store-model.ts'
import type { Group } from '../support/step-recipes.ts'
import { lockHistory } from '../support/store-steps.ts'
import { openTestStore, type TestStore } from '../support/test-store.ts'
import { createUpload } from '../support/upload-commands.ts'
import {
  deleteVersion,
  setDefaultRetention,
  setLegalHold,
  setRetention,
  setVersioning,
} from '../support/version-commands.ts'

const BYTES = Buffer.from('bytes')
const NOW = Date.parse('2126-01-02T03:04:05Z')
const DAY = 24 * 60 * 60 * 1000
const LAST = Date.parse('9999-12-31T23:59:59.999Z')
const RUNS = 20

interface Found {
  readonly bucketId: number
  readonly key: string
  readonly sequence: number
  readonly lock: LockState
}

/** Every row of the lock table. */
async function lockRows(store: TestStore): Promise<Found[]> {
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const rows = Array.from(environment.table(LOCKS).rows({}), ({ key, value }) => ({
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
          const there = store.catalog.version(bucketId, key, sequence)
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

test('S7 a version is retained until its moment, and not a millisecond longer', async (t) => {
  for (const mode of ['GOVERNANCE', 'COMPLIANCE'] as const) {
    const { store, clock, outcome, put } = await lockedStore(join(t.testdir(), mode))
    const untilMilliseconds = NOW + DAY
    const { version = 0 } = await put({ mode, untilMilliseconds })
    const refusal = mode === 'GOVERNANCE' ? 'governance-retention' : 'compliance-retention'
    clock.milliseconds = untilMilliseconds - 1
    t.equal(await outcome(deleteVersion('kept', 'key', version)), refusal, `${mode}: 1 ms before`)
    t.equal(await outcome(setRetention('kept', 'key', undefined, version)), refusal, `${mode}: nor is it taken away`)
    clock.milliseconds = untilMilliseconds
    const again = { ...write('kept', 'key', BYTES), lock: { retention: { mode, untilMilliseconds }, hold: undefined } }
    t.equal(await outcome(again), 'retention-in-past', 'nothing new is retained until now')
    t.equal(await outcome(deleteVersion('kept', 'key', version)), 'done', `${mode}: at the moment itself`)
    t.equal(store.catalog.version(store.catalog.bucket('kept')?.id ?? 0, 'key', version), undefined)
    await store.close(true)
  }
})

test('S7 the same for compliance retention, which a bypass does not pass', async (t) => {
  const { store, clock, outcome, put } = await lockedStore(t.testdir())
  const untilMilliseconds = NOW + DAY
  const { version = 0 } = await put({ mode: 'COMPLIANCE', untilMilliseconds })
  clock.milliseconds = untilMilliseconds - 1
  for (const bypass of [false, true]) {
    t.equal(await outcome(deleteVersion('kept', 'key', version, bypass)), 'compliance-retention')
    const weaker: Retention = { mode: 'GOVERNANCE', untilMilliseconds: untilMilliseconds + DAY }
    t.equal(await outcome(setRetention('kept', 'key', weaker, version, bypass)), 'compliance-retention')
    const shorter: Retention = { mode: 'COMPLIANCE', untilMilliseconds: untilMilliseconds + 0 }
    t.equal(await outcome(setRetention('kept', 'key', shorter, version, bypass)), 'done', 'the same is no loosening')
  }
  clock.milliseconds = untilMilliseconds
  t.equal(await outcome(deleteVersion('kept', 'key', version)), 'done')
  await store.close(true)
})

test('S7 governance retention gives way to a bypass, a legal hold to nobody', async (t) => {
  const { store, outcome, put } = await lockedStore(t.testdir())
  const governance: Retention = { mode: 'GOVERNANCE', untilMilliseconds: NOW + DAY }
  const { version: held = 0 } = await put(governance, true)
  t.equal(await outcome(deleteVersion('kept', 'key', held)), 'legal-hold')
  t.equal(await outcome(deleteVersion('kept', 'key', held, true)), 'legal-hold')
  t.equal(await outcome(setRetention('kept', 'key', undefined, held, true)), 'done', 'the hold knows nothing of it')
  t.equal(await outcome(deleteVersion('kept', 'key', held, true)), 'legal-hold')
  t.equal(await outcome(setLegalHold('kept', 'key', false, held)), 'done')
  t.equal(await outcome(deleteVersion('kept', 'key', held)), 'done')
  const { version: retained = 0 } = await put(governance)
  t.equal(await outcome(deleteVersion('kept', 'key', retained)), 'governance-retention')
  t.equal(await outcome(deleteObject('kept', 'key')), 'done', 'a marker destroys nothing')
  t.equal(await outcome(deleteVersion('kept', 'key', retained, true)), 'done')
  await store.close(true)
})

test('S7 everything that could drop a protected version is refused or leaves it there', async (t) => {
  const { store, execute, outcome, put } = await lockedStore(t.testdir())
  const { version = 0, sequence } = await put({ mode: 'COMPLIANCE', untilMilliseconds: LAST })
  const id = store.catalog.bucket('kept')?.id ?? 0
  const source = { bucket: 'kept', key: 'key', sequence }
  const commands: readonly (readonly [Command, string])[] = [
    [setVersioning('kept', 'suspended'), 'versioning-is-locked'],
    [setVersioning('kept', 'enabled'), 'done'],
    [deleteBucket('kept'), 'bucket-not-empty'],
    [write('kept', 'key', BYTES), 'done'],
    [copyObject(source, { bucket: 'kept', key: 'key' }, { headers: [], metadata: [] }), 'source-changed'],
    [deleteObject('kept', 'key'), 'done'],
    [deleteVersion('kept', 'key', 'null', true), 'done'],
    [setDefaultRetention('kept', undefined), 'done'],
    [setRetention('kept', 'key', undefined, version, true), 'compliance-retention'],
    [deleteVersion('kept', 'key', version, true), 'compliance-retention'],
  ]
  for (const [command, expected] of commands) {
    t.equal(await outcome(command), expected, command.kind)
    t.match(store.catalog.version(id, 'key', version)?.lock, { retention: { untilMilliseconds: LAST } })
  }
  await execute(createUpload('kept', 'key'))
  t.equal(await outcome(deleteBucket('kept')), 'bucket-not-empty')
  await store.close(true)
})

test('W1 W4 time is that of the clock or of the journal, whichever is later', async (t) => {
  const { store, clock, execute, outcome, put } = await lockedStore(t.testdir())
  const untilMilliseconds = NOW + DAY
  const { version: first = 0 } = await put({ mode: 'COMPLIANCE', untilMilliseconds })
  const { version: second = 0 } = await put({ mode: 'COMPLIANCE', untilMilliseconds }, true)
  const { version: free = 0 } = await put(undefined)
  clock.milliseconds = untilMilliseconds
  await execute(write('kept', 'other', BYTES))

  clock.milliseconds = untilMilliseconds - TOLERANCE_MILLISECONDS - 1
  t.equal(await outcome(deleteVersion('kept', 'key', first)), 'clock-behind', 'beyond the tolerance')
  t.equal(await outcome(deleteVersion('kept', 'key', first, true)), 'clock-behind', 'also with a bypass')
  t.equal(await outcome(setRetention('kept', 'key', undefined, first)), 'clock-behind', 'no retention is taken away')
  t.equal(await outcome(deleteVersion('kept', 'key', second)), 'legal-hold', 'a hold asks for no clock')
  t.equal(await outcome(setLegalHold('kept', 'key', false, second)), 'done', 'and is lifted without one')
  t.equal(await outcome(deleteVersion('kept', 'key', second)), 'clock-behind')
  const longer: Retention = { mode: 'COMPLIANCE', untilMilliseconds: untilMilliseconds + 1 }
  t.equal(await outcome(setRetention('kept', 'key', longer, second)), 'done', 'tightening goes on')
  t.equal(await outcome(deleteVersion('kept', 'key', free)), 'done', 'so do deletions of what nothing protects')
  t.equal(await outcome(write('kept', 'other', BYTES)), 'done', 'and writes')

  clock.milliseconds = untilMilliseconds - TOLERANCE_MILLISECONDS
  t.equal(
    await outcome(deleteVersion('kept', 'key', second)),
    'compliance-retention',
    'the journal is at its moment less 1 ms',
  )
  t.equal(await outcome(deleteVersion('kept', 'key', first)), 'done', 'within the tolerance the journal counts')
  await store.close(true)
})

test('W4 the time of the journal counts also after a start with a clock that was set back', async (t) => {
  const root = t.testdir()
  const { store, clock, execute, put } = await lockedStore(root)
  const { version = 0 } = await put({ mode: 'COMPLIANCE', untilMilliseconds: NOW + 1000 })
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
  const { version = 0 } = await put({ mode: 'COMPLIANCE', untilMilliseconds: LAST })
  t.equal(await outcome(deleteVersion('kept', 'key', version, true)), 'compliance-retention')
  t.equal(
    await outcome(setRetention('kept', 'key', { mode: 'COMPLIANCE', untilMilliseconds: LAST - 1 }, version)),
    'compliance-retention',
  )
  await execute(setDefaultRetention('kept', { mode: 'COMPLIANCE', unit: 'years', value: 7000 }))
  const { version: byDefault = 0 } = await execute(write('kept', 'key', BYTES))
  await store.close(true)
  const again = await openTestStore(root, { clock: () => NOW * 1000 })
  const id = again.catalog.bucket('kept')?.id ?? 0
  t.same(again.catalog.version(id, 'key', version)?.lock?.retention, { mode: 'COMPLIANCE', untilMilliseconds: LAST })
  t.equal(again.catalog.version(id, 'key', byDefault)?.lock?.retention?.untilMilliseconds, NOW + 7000 * 365 * DAY)
  await again.close(true)
})

test('S7 a default retention is that of the moment of the write, and of a completion', async (t) => {
  const { store, clock, execute } = await lockedStore(t.testdir())
  await execute(setDefaultRetention('kept', { mode: 'GOVERNANCE', unit: 'days', value: 2 }))
  const { version: before = 0 } = await execute(write('kept', 'key', BYTES))
  await execute(setDefaultRetention('kept', { mode: 'COMPLIANCE', unit: 'years', value: 1 }))
  clock.milliseconds += 1
  const { version: after = 0 } = await execute(write('kept', 'key', BYTES))
  const asked: Retention = { mode: 'GOVERNANCE', untilMilliseconds: NOW + 5000 }
  const { version: explicit = 0 } = await execute({
    ...write('kept', 'key', BYTES),
    lock: { retention: asked, hold: false },
  })
  const { version: held = 0 } = await execute({
    ...write('kept', 'key', BYTES),
    lock: { retention: undefined, hold: true },
  })
  const id = store.catalog.bucket('kept')?.id ?? 0
  const lockOf = (version: 'null' | number) => store.catalog.version(id, 'key', version)?.lock
  const standard = { mode: 'COMPLIANCE', untilMilliseconds: NOW + 1 + 365 * DAY }
  t.same(lockOf(before), { retention: { mode: 'GOVERNANCE', untilMilliseconds: NOW + 2 * DAY }, hold: undefined })
  t.same(lockOf(after), { retention: standard, hold: undefined })
  t.same(lockOf(explicit), { retention: asked, hold: false }, 'what was asked for goes first')
  t.same(lockOf(held), { retention: standard, hold: true }, 'a hold alone takes the default beside it')
  await store.close(true)
})
