/** Snapshots of the projections, and starts that cannot use the projections as they are: from a snapshot, or from another layout. */
import * as fc from 'fast-check'
import { usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import { SCHEMA_VERSION } from '../../../projections/tables/applied.ts'
import { openingNoteOf } from '../../../projections/try-open.ts'
import { TABLES } from '../../../projections/tables/table-list.ts'
import { writeNumber } from '../../../projections/keys.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { Strike } from './strikes.ts'
import type { SuddenEnd, WorldHost } from './world-host.ts'
import { worldOf, type WorldStore } from './world-store.ts'

/** Of the disk, while a snapshot is made. */
const OPERATIONS = 8

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
