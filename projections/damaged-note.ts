import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import type { RowDamagedError } from '../engine/errors.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'

/** A note next to the projections that a row of them was found damaged: the next start derives all of them again. */

/** Longer than the name of any table and the longest key. */
const NOTE_BYTES_MAXIMUM = 4096

/** Path of the note about the projections in a directory. */
export function damagedNoteOf(directory: string): string {
  return `${directory}-damaged`
}

/** Opens the projections in a directory; the first damaged row that is read leaves the note. */
export function openNoting(
  disk: Disk,
  directory: string,
  { readOnly }: { readonly readOnly: boolean },
): ProjectionEnvironment {
  const damaged = (error: RowDamagedError) => noteDamage(disk, damagedNoteOf(directory), error)
  return ProjectionEnvironment.open(directory, { readOnly, damaged })
}

function noteDamage(disk: Disk, note: string, { table, key }: RowDamagedError): void {
  if (disk.exists(note)) return
  try {
    const file = disk.create(note)
    try {
      file.writeAt(Buffer.from(placeOf(table, key)), 0)
    } finally {
      file.close()
    }
  } catch {
    // Another thread was first, or the disk is full: the reader gets its error all the same.
  }
}

function placeOf(table: string, key: string): string {
  const what = key === '' ? 'a page' : `key ${key}`
  return table === '' ? what : `table ${table}, ${what}`
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
