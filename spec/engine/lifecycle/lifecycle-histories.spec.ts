/**
 * No sequence of rules, writes, locks, clock steps and passes removes a version that a lock holds or that is too young;
 * what is due and free goes; and what was derived on the way is what the journal gives.
 * Proves: RES-RUL-04, RES-RUL-05, STA-RUL-03, API-RUL-10.
 */
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { sequenceOf } from '../../../engine/brands.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import { DomainError } from '../../../engine/errors.ts'
import type { LifecycleRule } from '../../../engine/events/values.ts'
import type { ObjectState } from '../../../engine/state-ports.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import type { ClockNotes } from '../../../workers/lifecycle/lifecycle-pass.ts'
import { createBucket, deleteObject, write } from '../../support/commands.ts'
import { createRule, DAY, deleteRule, replaceRule, ruleOf, runPass } from '../../support/lifecycle.ts'
import { runsOf } from '../../support/share-of-cases.ts'
import { openTestStore, roomyDisk, type TestStore } from '../../support/test-store.ts'
import { deleteVersion, setLegalHold, setRetention, setVersioning } from '../../support/version-commands.ts'

const RUNS = runsOf(12, 5)
const START = Date.parse('2126-01-02T03:04:05Z')
const BYTES = Buffer.from('bytes')
const EVERYTHING = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 10_000 }
const TOLERANCE = 5000
/** A pass that has recorded every fault of the clock before. */
const ALL_NOTED: ClockNotes = Object.assign(new Set<string>(), { has: () => true })
const BUCKETS = ['off', 'enabled', 'suspended', 'locked'] as const
const KEYS = ['a', 'a/b', 'b\u0000', 'é'] as const
const PREFIXES = ['', 'a', 'a/', 'é', 'x']

type Bucket = (typeof BUCKETS)[number]
type Step =
  | { readonly kind: 'write' | 'delete'; readonly bucket: Bucket; readonly key: string }
  | { readonly kind: 'delete-version'; readonly bucket: Bucket; readonly key: string; readonly pick: number }
  | { readonly kind: 'retain' | 'hold' | 'release'; readonly key: string; readonly pick: number; readonly days: number }
  | { readonly kind: 'rule'; readonly bucket: Bucket; readonly rule: LifecycleRule }
  | { readonly kind: 'no-rule'; readonly rule: string }
  | { readonly kind: 'clock'; readonly milliseconds: number }
  | { readonly kind: 'pass'; readonly batchSize: number }
  | { readonly kind: 'restart' }

const bucket = fc.constantFrom(...BUCKETS)
const key = fc.constantFrom(...KEYS)
const pick = fc.nat({ max: 4 })
const days = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined })
const rule = fc
  .record({ rule: fc.constantFrom('r1', 'r2', 'r3'), prefix: fc.constantFrom(...PREFIXES), enabled: fc.boolean() })
  .chain((given) =>
    fc.record({ expirationDays: days, noncurrentDays: days }).map((all) => ruleOf(given.rule, { ...given, ...all })),
  )
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('write' as const), bucket, key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), bucket, key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete-version' as const), bucket, key, pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('retain' as const, 'hold' as const, 'release' as const),
      key,
      pick,
      days: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('rule' as const), bucket, rule }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('no-rule' as const), rule: fc.constantFrom('r1', 'r2', 'r3') }),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(DAY, DAY, 2 * DAY, DAY - 1, 1, 0, -1000, -10_000, -DAY).map((milliseconds) => {
      return { kind: 'clock' as const, milliseconds }
    }),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(1, 2, 1000, 1000).map((batchSize) => ({ kind: 'pass' as const, batchSize })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
)

interface Version extends ObjectState {
  readonly bucket: Bucket
  readonly key: string
  readonly isLatest: boolean
}

/** A store, and since when each version has not been the newest, as a bystander sees it. */
class World {
  now = START
  /** The latest time of the journal, which the clock may be behind. */
  latest = START
  store!: TestStore
  readonly root: string
  readonly #since = new Map<number, number>()

  constructor(root: string) {
    this.root = root
  }

  async open(): Promise<void> {
    this.store = await openTestStore(this.root, { clock: () => this.now * 1000 })
  }

  async begin(): Promise<void> {
    await this.open()
    for (const name of BUCKETS) await this.send({ ...createBucket(name), lockEnabled: name === 'locked' })
    await this.send(setVersioning('enabled', 'enabled'))
    await this.send(setVersioning('suspended', 'enabled'))
    await this.send(write('suspended', 'a', BYTES))
    await this.send(setVersioning('suspended', 'suspended'))
  }

  async send(command: Command): Promise<void> {
    try {
      await this.store.client.execute(command)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
    }
    this.look()
  }

  versions(): Version[] {
    const snapshot = this.store.catalog.snapshot()
    return BUCKETS.flatMap((name) => {
      const id = snapshot.bucket(name)?.id
      if (id === undefined) return []
      const latest = new Set<string>()
      return snapshot.listVersions(id, EVERYTHING).entries.map(({ key: found, sequence, isNull }) => {
        const version = snapshot.version(id, found, isNull ? 'null' : sequence)
        if (version === undefined) throw new Error(`no version ${sequence}`)
        const isLatest = !latest.has(found)
        latest.add(found)
        return { ...version, bucket: name, key: found, isLatest }
      })
    })
  }

  /** Notes which versions have stopped, or begun again, to be the newest. */
  look(): void {
    this.latest = Math.max(this.latest, this.store.catalog.snapshot().journalMilliseconds())
    const all = this.versions()
    for (const { sequence, isLatest, bucket: name, key: found } of all) {
      if (isLatest) this.#since.delete(sequence)
      else if (!this.#since.has(sequence)) {
        const newest = all.find((one) => one.isLatest && one.bucket === name && one.key === found)
        this.#since.set(sequence, newest?.modifiedMicroseconds ?? Number.NaN)
      }
    }
  }

  /** Whether an enabled rule wants a version gone by now, and nothing keeps it. */
  isDue({ bucket: name, key: found, isLatest, isMarker, sequence, modifiedMicroseconds, lock }: Version): boolean {
    const now = Math.max(this.now, this.latest)
    const snapshot = this.store.catalog.snapshot()
    const id = snapshot.bucket(name)?.id
    const rules = id === undefined ? [] : snapshot.lifecycleRules(id)
    const since = isLatest ? modifiedMicroseconds : (this.#since.get(sequence) ?? Number.NaN)
    const isOld = rules.some(({ prefix, enabled, expirationDays, noncurrentDays }) => {
      const wanted = isLatest ? expirationDays : noncurrentDays
      return enabled && wanted !== undefined && found.startsWith(prefix) && since <= (now - wanted * DAY) * 1000
    })
    if (isLatest) return isOld && !isMarker
    const isHeld = lock?.hold === true || (lock?.retention?.untilMilliseconds ?? 0) > now
    return isOld && !isHeld
  }

  /** What a pass did that it may not, or did not do that it must. */
  async pass(batchSize: number): Promise<string[]> {
    const before = this.versions()
    const isBehind = this.now < this.latest - TOLERANCE
    const due = isBehind ? [] : before.filter((version) => this.isDue(version))
    await runPass(this.store, { now: this.now, batchSize })
    const isWhole = batchSize >= 1000
    const wrong = this.#compare(before, due, isWhole)
    this.look()
    const sequence = this.store.journal.position.sequence
    await runPass(this.store, { now: this.now, batchSize, clockNotes: ALL_NOTED })
    if (isWhole && this.store.journal.position.sequence !== sequence) wrong.push('a second pass did something')
    this.look()
    return wrong
  }

  #compare(before: readonly Version[], due: readonly Version[], isWhole: boolean): string[] {
    const after = new Map(this.versions().map((version) => [`${version.sequence}`, version]))
    const wrong: string[] = []
    for (const version of before) {
      const { bucket: name, key: found, sequence, isLatest, isNull } = version
      const left = after.get(`${sequence}`)
      const what = `${name}/${found}@${sequence}${isLatest ? ' latest' : ''}`
      const isDue = due.some((one) => one.sequence === sequence)
      const isDone = isLatest && name !== 'off' ? left?.isLatest !== true : left === undefined
      if (isDue && isWhole && !isDone) wrong.push(`${what} is due and was left`)
      // The marker of a bucket whose versioning is suspended replaces the null version, whatever its age.
      const isReplaced = name === 'suspended' && isNull && due.some((one) => one.isLatest && one.key === found)
      if (isDue || isReplaced) continue
      if (left === undefined) wrong.push(`${what} is gone and was not due`)
      else if (isLatest && !left.isLatest) wrong.push(`${what} is hidden and was not due`)
    }
    return wrong
  }
}

async function take(world: World, one: Step): Promise<string[]> {
  const { client } = world.store
  switch (one.kind) {
    case 'write':
      await world.send(write(one.bucket, one.key, BYTES))
      return []
    case 'delete':
      await world.send(deleteObject(one.bucket, one.key))
      return []
    case 'delete-version': {
      const there = world.versions().filter((version) => version.bucket === one.bucket && version.key === one.key)
      const chosen = there[one.pick % Math.max(1, there.length)]
      if (chosen !== undefined) {
        await world.send(deleteVersion(one.bucket, one.key, chosen.isNull ? 'null' : chosen.sequence))
      }
      return []
    }
    case 'retain':
    case 'hold':
    case 'release': {
      const there = world.versions().filter((version) => version.bucket === 'locked' && version.key === one.key)
      const chosen = there[one.pick % Math.max(1, there.length)]
      if (chosen === undefined) return []
      const sequence = sequenceOf(chosen.sequence)
      const untilMilliseconds = world.now + one.days * DAY
      const mode = one.days % 2 === 0 ? 'COMPLIANCE' : 'GOVERNANCE'
      await world.send(
        one.kind === 'retain'
          ? setRetention('locked', one.key, { mode, untilMilliseconds }, sequence)
          : setLegalHold('locked', one.key, one.kind === 'hold', sequence),
      )
      return []
    }
    case 'rule': {
      const id = `${one.bucket}-${one.rule.rule}`
      await client.execute(createRule(one.bucket, id, one.rule)).catch(() => undefined)
      await world.send(replaceRule(one.bucket, id, { ...one.rule, rule: id }))
      return []
    }
    case 'no-rule':
      for (const name of BUCKETS) await world.send(deleteRule(`${name}-${one.rule}`))
      return []
    case 'clock':
      world.now += one.milliseconds
      return []
    case 'pass':
      return world.pass(one.batchSize)
    case 'restart':
      await world.store.close(true)
      await world.open()
      world.look()
      return []
  }
}

test('whatever happens, what is due and free goes, and nothing else', async (t) => {
  const root = t.testdir()
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const world = new World(join(root, String((runs += 1))))
      await world.begin()
      const wrong: string[] = []
      for (const [index, one] of steps.entries()) {
        for (const fault of await take(world, one)) wrong.push(`step ${index}: ${fault}`)
        if (wrong.length > 0) break
      }
      await world.store.close(true)
      const { differenceCount, differences } = await checkProjections(roomyDisk, world.store.paths)
      if (differenceCount > 0) wrong.push(`the projections differ: ${JSON.stringify(differences[0])}`)
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
    }),
    { numRuns: RUNS },
  )
})
