/** Snapshots of the projections, and starts that cannot use the projections as they are: from a snapshot, or from another layout. */
import * as fc from 'fast-check'
import { usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import { SCHEMA_VERSION } from '../../../projections/tables/applied.ts'
import { openingNoteOf } from '../../../projections/try-open.ts'
import { TABLES } from '../../../projections/tables/table-list.ts'
import { writeNumber } from '../../../projections/keys.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { type PlaceChoice, placeChoice } from '../../model/choices.ts'
import type { Recipe } from '../../model/recipes.ts'
import { requestsTogether } from '../../model/step-mix.ts'
import { Request, Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { Strike } from './strikes.ts'
import type { SuddenEnd, WorldHost } from './world-host.ts'
import { worldOf, type WorldStore } from './world-store.ts'

/** Of the disk, while a snapshot is made. */
const OPERATIONS = 8
/** Of a start that makes its rows anew. */
const SWITCH_OPERATIONS = 60

/** What the next start finds. */
const FINDS = [
  'a snapshot',
  'a snapshot',
  'a spoilt snapshot',
  'rows of an earlier layout',
  'rows as they were',
] as const
type Finds = (typeof FINDS)[number]

const ENDS = ['clean', 'crash', 'power'] as const
type End = (typeof ENDS)[number]

class FromSnapshot extends Step {
  readonly #finds: Finds
  readonly #end: End
  readonly #seed: number

  constructor(finds: Finds, end: End, seed: number) {
    super(`a snapshot is made, the server ends (${end}), and the next start finds ${finds}`)
    this.#finds = finds
    this.#end = end
    this.#seed = seed
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    const { host } = world
    model.log.push(String(this))
    const failure = await world.jobs.makeSnapshot()
    if (failure !== undefined) throw new Error(`no snapshot could be made: ${failure}`)
    const isLost = this.#finds === 'a snapshot' || this.#finds === 'a spoilt snapshot'
    await world.down(this.#end, isLost)
    const sound = soundSnapshots(host)
    if (this.#finds === 'a spoilt snapshot') spoil(host, new Random(this.#seed))
    const isAged = this.#finds === 'rows of an earlier layout' && age(host)
    const isNoted = hasOpeningNote(host)
    await world.up()
    model.restarts += 1
    requireRight(world, {
      isAged,
      expected: (isLost || this.#end === 'power') && !isNoted ? soundSnapshots(host, sound)[0] : undefined,
    })
    model.tally.add('start from a snapshot', world.server.store.report.snapshot === undefined ? 'refused' : 'done')
    model.tally.add('start from an earlier layout', isAged ? 'done' : 'refused')
    await compare(model, store)
  }
}

/**
 * Whether an opening seems to have ended the process, so that the next start reads the journal alone. The note is removed when
 * the opening is over, but a power cut may bring it back.
 */
function hasOpeningNote({ disk, paths }: WorldHost): boolean {
  return [paths.projections, paths.projectionsNext].some((directory) => disk.exists(openingNoteOf(directory)))
}

function mayBeRefused({ spoiltSnapshots, earlierSnapshots }: WorldHost, name: string): boolean {
  return spoiltSnapshots.has(name) || earlierSnapshots.has(name)
}

/** Names of snapshots that nothing has spoilt, and that no earlier master key has sealed, the newest first. @param names of which */
function soundSnapshots(host: WorldHost, names = usableNames(host.disk, host.paths).map(({ name }) => name)): string[] {
  return names.filter((name) => !mayBeRefused(host, name))
}

/** The last record that a snapshot holds, by its name; a file of changes on a whole one may hold more than any whole one. */
function reachOf(name: string): number {
  return Number(/(\d+)\.\w+$/.exec(name)?.[1])
}

/** Cuts the newest snapshot, or writes other bytes into it. */
function spoil({ disk, paths, spoiltSnapshots }: WorldHost, random: Random): void {
  const [newest] = usableNames(disk, paths)
  if (newest === undefined) return
  const file = disk.openToWrite(newest.path)
  const place = random.below(file.size())
  if (random.below(2) === 0) file.truncate(place)
  else {
    const old = Buffer.alloc(1)
    file.readAt(old, place, 1)
    file.writeAt(Buffer.of((old[0] ?? 0) ^ (1 << random.below(8))), place)
    if (random.below(2) === 0) file.writeAt(sampleBytes(16, random.below(1000)), file.size())
  }
  file.sync()
  file.close()
  spoiltSnapshots.add(newest.name)
}

/** Makes the rows those of a program before this one. @returns whether there were any */
function age({ projections, paths }: WorldHost): boolean {
  const tables = new Map(projections.committed(paths.projections))
  const rows = tables.get(TABLES.applied) ?? []
  if (rows.length === 0) return false
  tables.set(
    TABLES.applied,
    rows.map(({ key, value }) => {
      const aged = Buffer.from(value)
      writeNumber(aged, SCHEMA_VERSION - 1, 0)
      return { key, value: aged }
    }),
  )
  projections.commit(paths.projections, tables)
  return true
}

/** @param expected the snapshot that the start must have used */
function requireRight(
  { server, host }: WorldStore,
  { isAged, expected }: { readonly isAged: boolean; readonly expected: string | undefined },
): void {
  const { snapshot, refusedSnapshots, discardedProjections } = server.store.report
  if (expected !== undefined && (snapshot === undefined || reachOf(snapshot) < reachOf(expected))) {
    throw new Error(`a start used ${snapshot} and not ${expected}: ${JSON.stringify(refusedSnapshots)}`)
  }
  if (snapshot !== undefined && host.spoiltSnapshots.has(snapshot))
    throw new Error(`a start used ${snapshot}, which is damaged`)
  const wronged = refusedSnapshots.find(({ name }) => !mayBeRefused(host, name))
  if (wronged !== undefined) throw new Error(`a start refused ${wronged.name}, which is sound: ${wronged.reason}`)
  const isOther = isAged && !/layout/.test(discardedProjections ?? '')
  if (isOther) throw new Error(`rows of an earlier layout were used, or were not for it: ${discardedProjections}`)
}

/** The host ends while a snapshot is made. */
class StruckSnapshot extends Step {
  readonly #strike: Strike

  constructor(end: SuddenEnd, operations: number) {
    super(`a snapshot is made, and at operation ${operations} of the disk it is over: ${end}`)
    this.#strike = { kind: end, operations }
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    model.log.push(String(this))
    await world.strike([], this.#strike, 0, () => world.jobs.makeSnapshot())
    model.restarts += 1
    await compare(model, store)
  }
}

/** A snapshot is made, more happens, and the host ends while the next one is made, which holds what has changed; then there are no rows. */
class StruckChanges extends Step {
  readonly #strike: Strike
  readonly #recipes: readonly Recipe[]
  readonly #at: PlaceChoice

  constructor(end: SuddenEnd, operations: number, recipes: readonly Recipe[], at: PlaceChoice) {
    super(`a snapshot of changes is made, and at operation ${operations} of the disk it is over: ${end}`)
    this.#strike = { kind: end, operations }
    this.#recipes = recipes
    this.#at = at
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    model.log.push(String(this))
    const failure = await world.jobs.makeSnapshot()
    if (failure !== undefined) throw new Error(`no snapshot could be made: ${failure}`)
    for (const recipe of this.#recipes) await new Request(recipe, this.#at).run(model, store)
    // What compares reads has records, so that there is a next segment and something to make a snapshot of.
    await compare(model, store)
    await world.strike([], this.#strike, 0, () => world.jobs.makeSnapshot())
    await world.down('crash', true)
    const { host } = world
    const [expected] = hasOpeningNote(host) ? [] : soundSnapshots(host)
    await world.up()
    model.restarts += 2
    requireRight(world, { isAged: false, expected })
    model.tally.add('snapshot of changes cut short', 'done')
    await compare(model, store)
  }
}

/** The rows are those of an earlier layout, and the host ends while a start makes others of them. */
class StruckSwitch extends Step {
  readonly #before: 'clean' | 'crash'
  readonly #ends: readonly [SuddenEnd, number][]

  /** @param ends of starts one after the other, each with the operations of the disk before it */
  constructor(before: 'clean' | 'crash', ends: readonly [SuddenEnd, number][]) {
    super(`rows of an earlier layout are made anew, and starts end: ${ends.map((end) => end.join(' at ')).join(', ')}`)
    this.#before = before
    this.#ends = ends
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const world = worldOf(store)
    model.log.push(String(this))
    for (const [index, [end, operations]] of this.#ends.entries()) {
      await world.down(index === 0 ? this.#before : 'crash', false)
      age(world.host)
      await world.strikeUp(end, operations)
      model.restarts += 1
    }
    model.tally.add('switch of the layout cut short', 'done')
    await compare(model, store)
  }
}

const suddenEnd = fc.constantFrom<SuddenEnd>('power', 'kill', 'kill')

/** The host ends while rows or snapshots of them are made. */
export const struckRowsStep: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({
      end: suddenEnd,
      operations: fc.integer({ min: 1, max: 3 * OPERATIONS }),
      recipes: requestsTogether,
      at: placeChoice,
    })
    .map(({ end, operations, recipes, at }) => new StruckChanges(end, operations, recipes, at)),
  fc
    .record({
      before: fc.constantFrom('clean' as const, 'crash' as const),
      ends: fc.array(fc.tuple(suddenEnd, fc.integer({ min: 1, max: SWITCH_OPERATIONS })), {
        minLength: 1,
        maxLength: 2,
      }),
    })
    .map(({ before, ends }) => new StruckSwitch(before, ends)),
)

export const snapshotStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({ finds: fc.constantFrom(...FINDS), end: fc.constantFrom(...ENDS), seed: fc.nat(2 ** 31 - 1) })
      .map(({ finds, end, seed }) => new FromSnapshot(finds, end, seed)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom<SuddenEnd>('power', 'kill'), fc.integer({ min: 1, max: OPERATIONS }))
      .map(([end, operations]) => new StruckSnapshot(end, operations)),
  },
)
