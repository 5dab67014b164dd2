/** One start of a store on a simulated host, from its opening to its end. */
import type { Disk } from '../../../engine/disk/disk.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { VolumeCompaction } from '../../../workers/compact-volumes.ts'
import { SegmentCompression } from '../../../workers/compress-segments.ts'
import { PayloadFileSweep } from '../../../workers/sweep-payload-files.ts'
import type { BackgroundWorker } from '../../../workers/worker.ts'
import type { ModelledClients } from '../../support/dying-servers/modelled-clients.ts'
import type { Random } from '../../support/random.ts'
import { snapshotOf } from '../../support/snapshots.ts'
import { openTestStore, type TestStore } from '../../support/test-store.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import type { Breakage } from './breakage.ts'
import { FaultyDisk, SYNCS } from './disk-faults.ts'
import type { Finding } from '../../support/dying-servers/client-findings.ts'
import type { Tally } from './findings.ts'
import type { Intervals } from './intervals.ts'
import type { LifePlan } from './life-plans.ts'
import type { Promises } from './promises.ts'
import type { SimulatedHost } from './simulated-host.ts'

/** Everything that lives share. */
export interface World {
  readonly host: SimulatedHost
  readonly clients: ModelledClients
  readonly promises: Promises
  readonly random: Random
  readonly intervals: Intervals
  readonly breakage: Breakage
  readonly tally: Tally
}

const SIZES = { segmentBytes: 16 * 1024, volumeBytes: 6 * 1024 }
/** In some lives several commands share a batch. */
const LARGE = { segmentBytes: 128 * 1024, volumeBytes: 16 * 1024 }
/** Later than the host's clock, by which a journal begins. */
const BEGINNING = Date.parse('2126-01-02T03:04:05Z')
/** Two lives later what was written is a day old. */
const LIFE_MILLISECONDS = 13 * 60 * 60 * 1000
const COMMANDS_MAXIMUM = 10
const STEPS_MAXIMUM = 40

/** Milliseconds by the clock of a life. */
export function timeOf(life: number): number {
  return BEGINNING + life * LIFE_MILLISECONDS
}

/** Opens the store of a world; in every third life with large segments. */
export function openIn(world: World, life: number, disk: Disk = world.host.disk): Promise<TestStore> {
  const { host } = world
  const sizes = life % 3 === 2 ? LARGE : SIZES
  const options = { ...sizes, bootId: host.bootId, clock: () => timeOf(life) * 1000 }
  world.breakage.beforeOpening?.(disk, host.paths)
  return openTestStore(host.paths.root, options, world.breakage.wrap?.(disk) ?? disk)
}

/** A store that reads a segment twice and not the same may say so; then the cache has let go of what misled it. */
async function openOnceMore(world: World, life: number, disk: Disk): Promise<TestStore> {
  try {
    return await openIn(world, life, disk)
  } catch (error) {
    world.intervals.clear()
    if (!String(error).includes('a second read differs from the first')) throw error
    return openIn(world, life, disk)
  }
}

/** Lives one life; returns what is wrong. The disk is as the process left it, nothing of it lost yet. */
export async function live(world: World, life: number, plan: LifePlan): Promise<Finding[]> {
  const { host, tally, random, promises } = world
  const faulty = new FaultyDisk(host.disk)
  host.disk.left = plan.opensFor ?? Number.POSITIVE_INFINITY
  let store: TestStore
  try {
    store = await openOnceMore(world, life, faulty.disk)
  } catch (error) {
    world.intervals.clear()
    if (!host.disk.isOn) return []
    return [{ kind: 'lost', text: `it does not open: ${String(error)}` }]
  }
  const found = await checkOpened(world, store)
  if (found.length === 0) {
    promises.begin()
    if (random.below(8) === 0) host.rememberProjections()
    const failed = () => store.failures.length > 0
    limit(host.disk, faulty, plan, failed)
    faulty.disk.after = () => {
      if (random.below(24) === 0) setImmediate(() => world.intervals.tick())
    }
    if (plan.fault !== undefined) faulty.arm(plan.fault, host.disk, random)
    const worked = await work(world, store, life, plan)
    const isHealthy = host.disk.isOn && !failed()
    if (isHealthy) promises.add(store.journal.position.sequence, store.journal.position.head)
    if (worked !== undefined && isHealthy && faulty.count === 0) found.push(worked)
    tally.faults += faulty.count
    faulty.disarm()
    found.push(...(await end(world, store, plan, isHealthy)))
  } else {
    await store.kill()
  }
  tally.tailsCut += store.report.cut === undefined ? 0 : 1
  tally.snapshotsRefused += store.report.refusedSnapshots.length
  world.intervals.clear()
  return found
}

/** Ends the process when it is told of a failure, or when the plan says so. */
function limit(disk: SimulatedDisk, faulty: FaultyDisk, plan: LifePlan, failed: () => boolean): void {
  let syncs = plan.counted === 'syncs' ? (plan.worksFor ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
  if (plan.opensFor === undefined && plan.counted === 'all') disk.left = plan.worksFor ?? Number.POSITIVE_INFINITY
  faulty.before = ({ name }) => {
    if (SYNCS.has(name)) syncs -= 1
    if (syncs <= 0 || failed()) disk.left = 0
  }
}

async function checkOpened(world: World, store: TestStore): Promise<Finding[]> {
  const { clients, promises, tally } = world
  const found: Finding[] = []
  const { removals } = clients
  try {
    found.push(...promises.check(store.disk, store.paths, clients))
    const unreadable = (error: unknown) => found.push({ kind: 'lost', text: String(error) })
    for (const text of await clients.check(store, unreadable)) found.push({ kind: 'lost', text })
  } catch (error) {
    found.push({ kind: 'lost', text: `what is there cannot be read: ${String(error)}` })
  }
  tally.removals += clients.removals - removals
  const { sequence, head } = store.journal.position
  promises.add(sequence, head)
  if (store.report.snapshot !== undefined) {
    tally.snapshotStarts += 1
    found.push(...(await compareWithReplay(world)))
  }
  return found
}

/** Clients and background jobs side by side; returns what a job complained of. */
async function work(world: World, store: TestStore, life: number, { ages }: LifePlan): Promise<Finding | undefined> {
  const { random, clients, tally } = world
  const { acknowledged, deliveries } = clients
  const jobs = random.below(3) === 0 ? background(store, life, world) : Promise.resolve(0)
  const [, done] = await Promise.all([
    clients.run(store, random, timeOf(life), 1 + random.below(COMMANDS_MAXIMUM)),
    jobs.catch((error: unknown): Finding => ({ kind: 'wrong', text: `a background job failed: ${String(error)}` })),
  ])
  if (ages) await clients.age(store, random, timeOf(life))
  tally.acknowledged += clients.acknowledged - acknowledged
  tally.deliveries += clients.deliveries - deliveries
  if (typeof done !== 'number') return done
  tally.volumesRemoved += done
  return undefined
}

/** Returns how many volumes were removed. */
async function background(store: TestStore, life: number, { tally, random }: World): Promise<number> {
  const { disk, paths, client, catalog, start } = store
  const compaction = new VolumeCompaction(disk, paths, client, catalog)
  const sweep = new PayloadFileSweep(disk, paths, start, (name) => catalog.snapshot().payloadFileIsUsed(name))
  const compression = new SegmentCompression(disk, paths, {
    enabled: true,
    afterHours: 0,
    bytesPerSecond: Number.POSITIVE_INFINITY,
    start,
    clock: () => timeOf(life + 1),
    timer: () => 0,
    pause: () => Promise.resolve(),
  })
  try {
    for (const worker of [sweep, compaction, compression]) await runSteps(worker)
  } finally {
    await compaction.close()
    await compression.close()
  }
  tally.coldSegments += compression.totals.segments
  const options = { kept: 1 + random.below(2), changesShare: random.of([0, 0.5, 1e9]) }
  const made = await snapshotOf(paths, options, disk)
  tally.snapshots += made === undefined ? 0 : 1
  return Number(/^\d+/.exec(compaction.status)?.[0])
}

async function runSteps(worker: BackgroundWorker): Promise<void> {
  for (let steps = 0; steps < STEPS_MAXIMUM; steps += 1) if ((await worker.step()) !== 'more') return
}

async function end(world: World, store: TestStore, plan: LifePlan, isHealthy: boolean): Promise<Finding[]> {
  const { host } = world
  if (plan.end === 'stop' && isHealthy) {
    try {
      await store.close(true)
      return []
    } catch (error) {
      if (host.disk.isOn) return [{ kind: 'wrong', text: `it does not stop: ${String(error)}` }]
    }
  }
  host.disk.left = 0
  await store.kill()
  return isHealthy && world.random.below(4) === 0 ? compareWithReplay(world) : []
}

/** The live projections, as the process left them, against a replay of its journal (J14). */
async function compareWithReplay({ host, tally }: World): Promise<Finding[]> {
  tally.rebuilds += 1
  try {
    const { differences } = await checkProjections(host.disk.clone(), host.paths)
    return differences.map((difference) => ({ kind: 'wrong', text: `not as a replay: ${JSON.stringify(difference)}` }))
  } catch (error) {
    return [{ kind: 'lost', text: `what was written cannot be replayed: ${String(error)}` }]
  }
}
