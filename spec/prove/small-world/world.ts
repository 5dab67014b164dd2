/** A world small enough to be tried out wholly: a simulated disk, projections in memory, and what clients were told. */
import { basename, dirname, join } from 'node:path'
import type { Disk } from '../../../engine/disk/disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { ClientLedger } from '../../support/dying-servers/client-ledger.ts'
import { openTestStore, type TestStore } from '../../support/test-store.ts'
import { altered } from '../mutants/altered.ts'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { MemoryProjections } from './memory-projections.ts'

export const ROOT = '/small-world'
export const PATHS = new StorePaths(ROOT)
/** Later than the host's clock, by which a journal begins. */
const NOW = Date.parse('2126-01-02T03:04:05Z')
/** So small that a few entries fill a segment, and few sectors are on their way at once. */
const SEGMENT_BYTES = 8 * 1024
/** Of segments so large that several commands share a batch. */
export const LARGE_SEGMENT_BYTES = 576 * 1024
const VOLUME_BYTES = 4 * 1024

export interface World {
  readonly disk: SimulatedDisk
  readonly projections: MemoryProjections
  readonly ledger: ClientLedger
}

export function emptyWorld(): World {
  return { disk: new SimulatedDisk(ROOT), projections: new MemoryProjections(), ledger: new ClientLedger(NOW) }
}

/** The same once more, as another process of the same boot finds it. */
export function copyOf({ disk, projections, ledger }: World): World {
  return { disk: disk.clone(), projections: projections.copy(), ledger: ledger.copy() }
}

/** Notes about projections are files beside them. */
const NOTE = /-(?:opening|damaged)$/
/** Files in the directory of projections that say what became of a start that made them. */
const SMALL_FILES = ['made', 'made-making', 'lot', 'lot-making']

function isProjection(path: string, { projections }: StorePaths): boolean {
  return path.startsWith(projections) && !NOTE.test(path)
}

/** Where a small file of projections is on the disk, which does not have their directory; of any other path itself. */
function placeOf(path: string, { root, projections }: StorePaths): string {
  const directory = dirname(path)
  const isSmall = directory.startsWith(projections) && SMALL_FILES.includes(basename(path))
  return isSmall ? join(root, `${basename(path)} of ${basename(directory)}`) : path
}

/** The disk of a world, for a store: what is of the projections is in memory as well, but for their small files. */
export function diskOf(
  { disk, projections }: Pick<World, 'projections'> & { readonly disk: Disk },
  paths = PATHS,
): Disk {
  const at = (path: string) => placeOf(path, paths)
  const isInMemory = (path: string) => at(path) === path && isProjection(path, paths)
  const smallFilesOf = (directory: string) =>
    SMALL_FILES.map((name) => join(directory, name)).filter((path) => disk.exists(at(path)))
  return altered<Disk>(disk, {
    create: (path) => disk.create(at(path)),
    openToRead: (path) => disk.openToRead(at(path)),
    remove: (path) => disk.remove(at(path)),
    rename(from, to) {
      if (!isInMemory(from)) return disk.rename(at(from), at(to))
      projections.rename(from, to)
      for (const path of smallFilesOf(from)) disk.rename(at(path), at(join(to, basename(path))))
    },
    syncDirectory: (path) => disk.syncDirectory(isInMemory(path) ? paths.root : path),
    makeDirectory: (path) => (isInMemory(path) ? projections.make(path) : disk.makeDirectory(path)),
    removeTree(path) {
      projections.remove(path)
      for (const file of smallFilesOf(path)) disk.remove(at(file))
    },
    exists: (path) => (isInMemory(path) ? projections.has(path) : disk.exists(at(path))),
  })
}

/** `segmentBytes`: in the usual small segments each command is a batch of its own. */
export function openWorld(disk: Disk, bootId: string, segmentBytes = SEGMENT_BYTES): Promise<TestStore> {
  const options = { segmentBytes, volumeBytes: VOLUME_BYTES, bootId, clock: () => NOW * 1000 }
  return openTestStore(ROOT, options, disk)
}
