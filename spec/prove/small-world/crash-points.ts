/** What a sequence of letters leaves at each moment at which the power may go. */
import { FaultDisk } from '../../support/disks/fault-disk.ts'
import { type Breakage, UNBROKEN } from '../disk/breakage.ts'
import { populate } from './alphabet.ts'
import type { MemoryProjections } from './memory-projections.ts'
import { isAtOnce, lettersOf } from './sequences.ts'
import { copyOf, diskOf, emptyWorld, LARGE_SEGMENT_BYTES, openWorld, type World } from './world.ts'

/** Boot of the host in which a sequence is gone through. */
export const BOOT = 'the first boot'

/** A moment: the disk with all that is not synced, and what clients had been told by then. */
export interface CrashPoint extends World {
  /** Number of the operation that was about to be made. */
  readonly operation: number
  /** What it was. */
  readonly before: string
}

/** Where projections are opened. */
export interface Projecting {
  projections: MemoryProjections
}

/** A store that was stopped in order, with a little of everything. */
export async function beginning(projecting: Projecting): Promise<World> {
  const world = emptyWorld()
  projecting.projections = world.projections
  const disk = new FaultDisk(diskOf(world))
  const store = await openWorld(disk, BOOT)
  await populate({ ...world, store })
  await store.close(true)
  await disk.idle()
  return world
}

/**
 * Goes through a sequence, and notes every moment of its last letter: those of the letters before are the moments of a
 * shorter sequence.
 */
export async function crashPoints(
  begun: World,
  sequence: readonly string[],
  projecting: Projecting,
  breakage: Breakage = UNBROKEN,
): Promise<CrashPoint[]> {
  const world = copyOf(begun)
  projecting.projections = world.projections
  const disk = new FaultDisk(diskOf(world))
  const segmentBytes = isAtOnce(sequence) ? LARGE_SEGMENT_BYTES : undefined
  const store = await openWorld(breakage.wrap?.(disk) ?? disk, BOOT, segmentBytes)
  await disk.idle()
  writeBack(world)
  const points: CrashPoint[] = []
  let used = -1
  const note = (before: string) => {
    if (world.disk.used === used) return
    used = world.disk.used
    points.push({ ...copyOf(world), operation: points.length, before })
  }
  for (const [index, element] of sequence.entries()) {
    if (index === sequence.length - 1) {
      disk.fault = ({ name, path }) => {
        note(`${name} ${path}`)
        return undefined
      }
    }
    await Promise.allSettled(lettersOf(element).map((letter) => letter({ ...world, store })))
    await disk.idle()
  }
  note('nothing')
  disk.fault = () => undefined
  await store.kill()
  return points
}

/** What is not synced for long is written back by the system itself; or each outcome were multiplied by those of the start. */
function writeBack({ disk }: World): void {
  for (const path of disk.contents().keys()) if (path.endsWith('/')) disk.syncDirectory(path.slice(0, -1))
  disk.syncDirectory(disk.root)
}
