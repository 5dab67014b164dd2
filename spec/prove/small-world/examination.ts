/** What must hold of a store after a crash, whatever the crash left. */
import type { Disk } from '../../../engine/disk/disk.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import type { Random } from '../../support/random.ts'
import { type Findings, leftOvers, sweep } from '../fail-at/aftermath.ts'
import { byChance } from '../simulated-disk/crash-choices.ts'
import { BOOT, type Projecting } from './crash-points.ts'
import { MemoryProjections } from './memory-projections.ts'
import { diskOf, openWorld, PATHS, type World } from './world.ts'

/** How a host comes back: after a power cut its projections are not trusted, after a kill they are. */
export type Return = 'after a power cut' | 'after a kill'

const BOOTS: Readonly<Record<Return, string>> = { 'after a power cut': 'the next boot', 'after a kill': BOOT }

/** Opens the store of a world, which is used up by it, and holds it against what its clients were told. */
export async function examine(world: World, how: Return, projecting: Projecting): Promise<Findings> {
  projecting.projections = world.projections
  const disk = diskOf(world)
  const store = await openWorld(disk, BOOTS[how]).catch((error: unknown) => String(error))
  if (typeof store === 'string') return { lost: [`it cannot be opened: ${store}`], wrong: [] }
  const lost = await world.ledger.check(store).catch((error: unknown) => [String(error)])
  await sweep(store)
  const wrong = leftOvers(store)
  await store.close(true)
  wrong.push(...(await differencesOf(disk).catch((error: unknown) => [`the journal cannot be read: ${String(error)}`])))
  return { lost, wrong }
}

async function differencesOf(disk: Disk): Promise<string[]> {
  const { differenceCount, differences } = await checkProjections(disk, PATHS)
  return differenceCount === 0 ? [] : [`rows are not those of the journal: ${JSON.stringify(differences[0])}`]
}

/** The power goes again, at an operation of the start that chance picks; returns the world that this leaves. */
export async function crashWhileOpening(world: World, random: Random, projecting: Projecting): Promise<World> {
  projecting.projections = world.projections
  world.disk.left = 1 + random.below(60)
  const store = await openWorld(diskOf(world), BOOTS['after a power cut']).catch(() => undefined)
  await store?.kill()
  return { ...world, disk: world.disk.crash(byChance(random)), projections: new MemoryProjections() }
}
