/**
 * What a pass over the lifecycle rules removes, what it leaves, and what it records.
 * Proves: DO-CAP-17, RES-RUL-02, RES-RUL-04, RES-RUL-05, RES-RUL-08, RES-AUD-11, RES-AUD-12, RES-AUD-13, STA-RUL-01,
 * STA-RUL-02, STA-LCK-08, API-RUL-05, API-RUL-06, API-RUL-07, API-RUL-08, API-RUL-09, API-RUL-10, API-RUL-11,
 * API-RUL-12, API-RUL-13, API-RUL-14, LIM-VAL-04.
 */
import { test } from 'tap'
import { microsecondsOf, millisecondsOf, sequenceOf } from '../../../engine/brands.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import { DomainError } from '../../../engine/errors.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { LifecycleExpiry } from '../../../workers/lifecycle/expire-objects.ts'
import { createBucket, deleteBucket, deleteObject, write } from '../../support/commands.ts'
import { type JournalEntry, journalEntries } from '../../support/journal-entries.ts'
import { createRule, DAY, deleteRule, replaceRule, runPass } from '../../support/lifecycle.ts'
import { openTestStore, roomyDisk, type TestStore } from '../../support/test-store.ts'
import { deleteVersion, setLegalHold, setRetention, setVersioning } from '../../support/version-commands.ts'

const START = Date.parse('2126-01-02T03:04:05Z')
const BYTES = Buffer.from('bytes')
const EVERYTHING = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 10_000 }

class Scene {
  now = START
  store!: TestStore
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  static async of(root: string): Promise<Scene> {
    const scene = new Scene(root)
    await scene.open()
    return scene
  }

  async open(): Promise<void> {
    this.store = await openTestStore(this.root, { clock: () => this.now * 1000 })
  }

  async send(...commands: readonly Command[]): Promise<number> {
    let sequence = 0
    for (const command of commands) sequence = (await this.store.client.execute(command)).sequence
    return sequence
  }

  pass(batchSize?: number) {
    return runPass(this.store, { now: this.now, ...(batchSize && { batchSize }) })
  }

  /** Versions as `key@sequence`, markers as `key!sequence`, newest first within a key. */
  versions(bucket: string): string[] {
    const snapshot = this.store.catalog.snapshot()
    const id = snapshot.bucket(bucket)?.id
    if (id === undefined) throw new Error(`no bucket ${bucket}`)
    return snapshot
      .listVersions(id, EVERYTHING)
      .entries.map(({ key, sequence, isMarker }) => `${key}${isMarker ? '!' : '@'}${sequence}`)
  }

  keys(bucket: string): string[] {
    return this.versions(bucket).map((name) => name.replace(/[@!].*/, ''))
  }

  async entries(): Promise<JournalEntry[]> {
    return journalEntries(this.root)
  }

  async lifecycleEntries(operation: string): Promise<JournalEntry[]> {
    return (await this.entries()).filter((entry) => entry.operation === operation)
  }

  /** Ends the store, and holds what it derived against what its journal gives. */
  async end(): Promise<number> {
    await this.store.close(true)
    return (await checkProjections(roomyDisk, this.store.paths)).differenceCount
  }
}

test('objects expire by age and prefix, in order of age, and the rest stays', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'), createRule('b', 'r', { prefix: 'a/', expirationDays: 2 }))
  await scene.send(write('b', 'a/2', BYTES), write('b', 'z', BYTES))
  scene.now += DAY
  await scene.send(write('b', 'a/1', BYTES))
  t.same(await scene.pass(), { scanned: 0, expired: 0, held: 0, failed: 0 })
  scene.now += DAY - 1
  t.match(await scene.pass(), { expired: 0 }, 'a millisecond too young')
  // Entries of one millisecond are microseconds apart.
  scene.now += 2
  t.match(await scene.pass(), { scanned: 1, expired: 1 })
  t.same(scene.keys('b'), ['a/1', 'z'])
  const records = await scene.lifecycleEntries('lifecycle.expire-object')
  t.same(
    records.map(({ result, principal, resource }) => [result, principal, resource]),
    [
      ['attempted', 'system:lifecycle', 'bucket:b/a/2'],
      ['success', 'system:lifecycle', 'bucket:b/a/2'],
    ],
  )
  t.match(records[1], { intent: records[0]?.sequence, changes: [{ name: 'object.deleted' }] })
  t.same(Object.fromEntries(records[1]?.details ?? []), { rule_id: 'r', rule_prefix: 'a/' })
  const before = (await scene.entries()).length
  await scene.pass()
  t.equal((await scene.entries()).length, before, 'a pass with nothing to do records nothing')
  t.equal(await scene.end(), 0)
})

test('a batch is a bound for each rule, action and pass, and the cursor outlives restarts and a disabled rule', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'))
  for (let index = 0; index < 250; index += 1) await scene.send(write('b', `k${index % 2}/${index}`, BYTES))
  await scene.send(createRule('b', 'even', { prefix: 'k0/', expirationDays: 1 }))
  await scene.send(createRule('b', 'odd', { prefix: 'k1/', expirationDays: 1 }))
  scene.now += 2 * DAY
  t.match(await scene.pass(30), { scanned: 60, expired: 60 })
  const cursors = () => scene.store.catalog.snapshot().lifecycleRules(scene.store.catalog.snapshot().bucket('b')!.id)
  const reached = cursors()
  t.ok(reached.every(({ cursors: { expiration } }) => expiration !== undefined))
  await scene.store.close(true)
  await scene.open()
  t.same(cursors(), reached, 'after a restart')
  await scene.send(replaceRule('b', 'even', { prefix: 'k0/', expirationDays: 1, enabled: false }))
  t.match(await scene.pass(30), { scanned: 30, expired: 30 })
  t.same(cursors()[0]?.cursors, reached[0]?.cursors, 'while it is disabled')
  await scene.send(replaceRule('b', 'even', { prefix: 'k0/', expirationDays: 1 }))
  t.match(await scene.pass(), { expired: 250 - 90 })
  t.same(scene.keys('b'), [])
  await scene.send(replaceRule('b', 'even', { prefix: 'k', expirationDays: 1 }))
  t.same(cursors()[0]?.cursors, {}, 'another prefix begins anew')
  await scene.send(deleteRule('odd'))
  t.equal(cursors().length, 1)
  await scene.send(deleteBucket('b'))
  t.equal(scene.store.catalog.snapshot().bucketOfLifecycleRule('even'), undefined)
  t.equal(await scene.end(), 0)
})

test('versions: expiry hides, noncurrent ones go from when they became so, markers on top stay', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'), setVersioning('b', 'enabled'))
  const first = await scene.send(write('b', 'k', BYTES))
  scene.now += 10 * DAY
  const second = await scene.send(write('b', 'k', BYTES))
  const both = { expirationDays: 5, noncurrentDays: 3 }
  await scene.send(createRule('b', 'r', both))
  t.match(await scene.pass(), { expired: 0 }, 'old, and noncurrent since a moment ago')
  scene.now += 3 * DAY
  t.match(await scene.pass(), { expired: 1 })
  t.same(scene.versions('b'), [`k@${second}`])
  t.not(first, second)
  const removed = await scene.lifecycleEntries('lifecycle.expire-noncurrent-version')
  t.match(removed[1], { result: 'success', changes: [{ name: 'version.deleted', version: first }] })
  t.same([...(removed[1]?.details.keys() ?? [])], ['rule_id', 'rule_prefix', 'version_id'])
  scene.now += 2 * DAY
  t.match(await scene.pass(), { expired: 1 })
  const [marker, hidden] = scene.versions('b')
  t.match(marker, /^k!/)
  t.equal(hidden, `k@${second}`)
  scene.now += 3 * DAY
  t.match(await scene.pass(), { expired: 1 })
  t.same(scene.versions('b'), [marker], 'a delete marker alone stays')
  scene.now += 100 * DAY
  t.match(await scene.pass(), { scanned: 0 })
  await scene.send(write('b', 'k', BYTES))
  scene.now += 3 * DAY
  t.match(await scene.pass(), { expired: 1 }, 'a marker that is not current goes as a version does')
  t.equal(scene.versions('b').length, 1)
  t.equal(await scene.end(), 0)
})

test('a version that is current again, or a marker that is uncovered, counts anew', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'), setVersioning('b', 'enabled'))
  const rule = { expirationDays: 50, noncurrentDays: 10 }
  await scene.send(createRule('b', 'r', rule))
  const old = await scene.send(write('b', 'k', BYTES))
  const marker = await scene.send(deleteObject('b', 'm'))
  const over = [await scene.send(write('b', 'k', BYTES)), await scene.send(deleteObject('b', 'm'))]
  scene.now += 9 * DAY
  await scene.send(deleteVersion('b', 'k', over[0] ?? 0), deleteVersion('b', 'm', over[1] ?? 0))
  await scene.send(write('b', 'k', BYTES), write('b', 'm', BYTES))
  scene.now += 9 * DAY
  t.match(await scene.pass(), { expired: 0 })
  scene.now += DAY + 1
  t.match(await scene.pass(), { expired: 2 })
  t.notOk(scene.versions('b').some((name) => name === `k@${old}` || name === `m!${marker}`))
  // What has passed the cursor and becomes current again still expires.
  const [last] = scene.versions('b')
  await scene.send(createRule('b', 'x', { prefix: 'x', expirationDays: 1 }), write('b', 'xx', BYTES))
  const top = await scene.send(write('b', 'xx', BYTES))
  scene.now += 2 * DAY
  await scene.send(deleteVersion('b', 'xx', top))
  t.match(await scene.pass(), { expired: 1 })
  t.match(scene.versions('b')[0], last)
  t.equal(await scene.end(), 0)
})

test('a lock is skipped once for each reason, and what it held goes when it has ended', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send({ ...createBucket('b'), lockEnabled: true })
  await scene.send(createRule('b', 'r', { noncurrentDays: 1 }))
  const until = scene.now + 5 * DAY
  const sequences: number[] = []
  for (const key of ['compliance', 'free', 'governance', 'hold']) {
    sequences.push(await scene.send(write('b', key, BYTES)))
    await scene.send(write('b', key, BYTES))
  }
  const [compliance, , governance, hold] = sequences.map(sequenceOf)
  await scene.send(setRetention('b', 'compliance', { mode: 'COMPLIANCE', untilMilliseconds: until }, compliance))
  await scene.send(setRetention('b', 'governance', { mode: 'GOVERNANCE', untilMilliseconds: until }, governance))
  await scene.send(setRetention('b', 'hold', { mode: 'GOVERNANCE', untilMilliseconds: until }, hold))
  await scene.send(setLegalHold('b', 'hold', true, hold))
  scene.now += 2 * DAY
  t.match(await scene.pass(), { scanned: 4, expired: 1, held: 3 })
  t.match(await scene.pass(), { scanned: 0 })
  const skips = async () =>
    (await scene.lifecycleEntries('lifecycle.skip-locked-version')).map(({ resource, details }) => [
      resource,
      details.get('reason'),
    ])
  const first = [
    ['bucket:b/compliance', 'compliance_retention'],
    ['bucket:b/governance', 'governance_retention'],
    ['bucket:b/hold', 'legal_hold'],
  ]
  t.same(await skips(), first)
  const [skip] = await scene.lifecycleEntries('lifecycle.skip-locked-version')
  t.match(skip, { principal: 'system:lifecycle', result: 'success' })
  t.match(skip?.details.get('version_id'), /^[\w-]{20,}$/)
  t.match(Object.fromEntries(skip?.details ?? []), { rule_id: 'r', rule_prefix: '' })

  await scene.send(setLegalHold('b', 'hold', false, hold))
  t.match(await scene.pass(), { scanned: 1, held: 1 })
  t.match(await scene.pass(), { scanned: 0 })
  const second = [...first, ['bucket:b/hold', 'governance_retention']]
  t.same(await skips(), second, 'another reason')
  const later = until + 3 * DAY
  await scene.send(setRetention('b', 'compliance', { mode: 'COMPLIANCE', untilMilliseconds: later }, compliance))
  t.match(await scene.pass(), { held: 1 })
  t.same(await skips(), [...second, ['bucket:b/compliance', 'compliance_retention']], 'another period')

  scene.now = until - 1
  t.match(await scene.pass(), { scanned: 0 })
  scene.now = until
  t.match(await scene.pass(), { scanned: 2, expired: 2 })
  scene.now = later
  t.match(await scene.pass(), { scanned: 1, expired: 1 })
  t.equal(scene.versions('b').length, 4)
  t.equal(await scene.end(), 0)
})

test('a clock behind its mark removes nothing and is recorded once', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'), createRule('b', 'r', { expirationDays: 1 }), write('b', 'k', BYTES))
  scene.now += 2 * DAY
  await scene.send(write('b', 'young', BYTES))
  scene.now -= 10_000
  const clockNotes = new Set<string>()
  const pass = () => runPass(scene.store, { now: scene.now, clockNotes })
  t.match(await pass(), { expired: 0, held: 1 })
  t.match(await pass(), { expired: 0 })
  const skips = await scene.lifecycleEntries('lifecycle.skip-locked-version')
  t.same(
    skips.map(({ details }) => details.get('reason')),
    ['clock_unavailable'],
  )
  t.same(scene.keys('b'), ['k', 'young'])
  scene.now += 10_000
  t.match(await pass(), { expired: 1 })
  t.equal(await scene.end(), 0)
})

test('an entry that cannot be removed is tried again, and the others go on', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'), createRule('b', 'r', { expirationDays: 1 }))
  await scene.send(write('b', 'k', BYTES))
  scene.now += 2 * DAY
  const { client } = scene.store
  let isFull = true
  const execute = (command: Command) =>
    isFull ? Promise.reject(new DomainError('journal-full')) : client.execute(command)
  const engine = Object.assign(Object.create(client) as typeof client, { execute })
  const passes: [unknown, unknown][] = []
  let timer = 0
  const worker = new LifecycleExpiry(engine, scene.store.catalog, {
    intervalSeconds: 10,
    batchSize: 100,
    clock: () => millisecondsOf(scene.now),
    timer: () => timer,
    onPass: (counts, failure) => passes.push([counts, failure]),
  })
  t.equal(await worker.step(), 'idle', 'before the first tick')
  t.equal(passes.length, 0)
  timer = 10_000
  while ((await worker.step()) === 'more');
  t.match(passes, [[{ scanned: 1, expired: 0, failed: 1 }, { code: 'journal-full' }]])
  t.equal(await worker.step(), 'idle', 'not before the next tick')
  isFull = false
  timer = 35_000
  while ((await worker.step()) === 'more');
  t.match(passes[1], [{ scanned: 1, expired: 1, failed: 0 }, undefined])
  t.match(worker.status, /1 objects and versions expired/)
  t.equal(await scene.end(), 0)
})

test('a page that was read before its rule got another prefix moves nothing: the rule begins anew', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'), createRule('b', 'r', { prefix: 'x', expirationDays: 1 }))
  await scene.send(write('b', 'a', BYTES), write('b', 'x', BYTES), write('b', 'y', BYTES))
  scene.now += 2 * DAY
  const { client } = scene.store
  const execute = async (command: Command) => {
    if (command.kind === 'expire-page') await client.execute(replaceRule('b', 'r', { expirationDays: 1 }))
    return client.execute(command)
  }
  const engine = Object.assign(Object.create(client) as typeof client, { execute })
  await runPass(scene.store, { now: scene.now, engine })
  await scene.pass()
  t.same(scene.keys('b'), [], 'what the new prefix has is due as well')
  t.equal(await scene.end(), 0)
})

test('a retention beyond what microseconds can count is until its lock changes, and every reader takes the entry', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send({ ...createBucket('b'), lockEnabled: true }, createRule('b', 'r', { noncurrentDays: 1 }))
  const version = sequenceOf(await scene.send(write('b', 'k', BYTES)))
  await scene.send(write('b', 'k', BYTES))
  const untilMilliseconds = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
  await scene.send(setRetention('b', 'k', { mode: 'GOVERNANCE', untilMilliseconds }, version))
  scene.now += 2 * DAY
  t.match(await scene.pass(), { scanned: 1, held: 1 })
  t.match(await scene.pass(), { scanned: 0 })
  t.equal((await scene.lifecycleEntries('lifecycle.skip-locked-version')).length, 1)
  t.equal(await scene.end(), 0)
})

test('a place that no reader of the journal would take fails its page, which keeps what it removed', async (t) => {
  const scene = await Scene.of(t.testdir())
  await scene.send(createBucket('b'), createRule('b', 'r', { expirationDays: 1 }), write('b', 'k', BYTES))
  scene.now += 2 * DAY
  const through = { timeMicroseconds: microsecondsOf(2 ** 53), version: sequenceOf(1) }
  const { execute } = scene.store.client
  scene.store.client.execute = (command) =>
    execute.call(scene.store.client, command.kind === 'expire-page' ? { ...command, through } : command)
  t.match(await scene.pass(), { expired: 1, failed: 1 })
  t.same([scene.store.failures, scene.keys('b')], [[], []])
  t.ok((await scene.lifecycleEntries('lifecycle.scan')).some(({ result }) => result === 'failure'))
  t.equal(await scene.end(), 0)
})
