import type { Disk } from '../../../engine/disk/disk.ts'
import type { FaultDisk } from '../../support/disks/fault-disk.ts'
import { altered, alteredFiles } from '../mutants/altered.ts'

/** A layer over a disk with faults, so that looks can fail as well. A look for a name that fails finds nothing. */
export function withLooks(disk: FaultDisk): Disk {
  const looking = altered<Disk>(disk, {
    list: (path) => disk.perform({ name: 'list', path }, () => disk.list(path)),
    sizeOf: (path) => disk.perform({ name: 'size', path }, () => disk.sizeOf(path)),
    exists: (path) => {
      try {
        return disk.perform({ name: 'exists', path }, () => disk.exists(path))
      } catch {
        // That is what node:fs says of a path that cannot be looked at.
        return false
      }
    },
  })
  return alteredFiles(looking, (file) => ({
    size: () => disk.perform({ name: 'size', path: file.path }, () => file.size()),
  }))
}
