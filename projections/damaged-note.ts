import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import type { RowDamagedError } from '../engine/errors.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'

/** A note in the data directory that a row of the projections was found damaged: the next start derives all of them again. */

/** Longer than the name of any table and the longest key. */
const NOTE_BYTES_MAXIMUM = 4096

/** Opens the projections of a store; the first damaged row that is read leaves the note. */
export function openNoting(
  disk: Disk,
  paths: StorePaths,
  { readOnly }: { readonly readOnly: boolean },
): ProjectionEnvironment {
  return ProjectionEnvironment.open(paths.projections, { readOnly, damaged: (error) => noteDamage(disk, paths, error) })
}

function noteDamage(disk: Disk, { projectionsDamaged }: StorePaths, { table, key }: RowDamagedError): void {
  if (disk.exists(projectionsDamaged)) return
  try {
    const file = disk.create(projectionsDamaged)
    try {
      file.writeAt(Buffer.from(`table ${table}, key ${key}`), 0)
    } finally {
      file.close()
    }
  } catch {
    // Another thread was first, or the disk is full: the reader gets its error all the same.
  }
}

/** The row of the note, such as `table objects, key 0000000000000003612f62`, the key in hexadecimal; undefined without a note. */
export function notedDamage(disk: Disk, { projectionsDamaged }: StorePaths): string | undefined {
  if (!disk.exists(projectionsDamaged)) return undefined
  const file = disk.openToRead(projectionsDamaged)
  try {
    const note = Buffer.alloc(NOTE_BYTES_MAXIMUM)
    return note.toString('utf8', 0, file.readAt(note, 0, NOTE_BYTES_MAXIMUM))
  } finally {
    file.close()
  }
}
