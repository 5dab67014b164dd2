import type { Milliseconds } from '../engine/brands.ts'
import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'

/**
 * A note in the directory of the rows of when they were last opened, and of how many processes in a row had ended soon after that:
 * LMDB trusts its pages, and a write into a damaged one may end the process, at every start. After a stop in order the count is 0 again.
 */
interface StartsNote {
  readonly openedMilliseconds: number
  readonly ends: number
}

/** A process that lives for longer was not ended by what every process meets. */
const SOON_MILLISECONDS = 10 * 60 * 1000
/** As many may have other reasons, such as a lack of memory. */
export const ENDS_MAXIMUM = 4
const NOTE_BYTES_MAXIMUM = 200

/** How many processes in a row ended without order soon after they had opened the rows, the last one included. */
export function endsSoon(disk: Disk, { projectionsStarts }: StorePaths, now: Milliseconds): number {
  const note = disk.exists(projectionsStarts) ? decoded(readText(disk, projectionsStarts)) : undefined
  if (note === undefined) return 0
  const lived = now - note.openedMilliseconds
  return lived >= 0 && lived < SOON_MILLISECONDS ? note.ends + 1 : 0
}

/** @param ends of processes before this one. On a full disk the note is not written: then the count is too low. */
export function noteStart(disk: Disk, { projectionsStarts }: StorePaths, now: Milliseconds, ends: number): void {
  const note: StartsNote = { openedMilliseconds: now, ends }
  try {
    disk.remove(projectionsStarts)
    const file = disk.create(projectionsStarts)
    try {
      file.writeAt(Buffer.from(JSON.stringify(note)), 0)
    } finally {
      file.close()
    }
  } catch {
    // The next start trusts the rows, as without a note.
  }
}

function readText(disk: Disk, path: string): string {
  const file = disk.openToRead(path)
  try {
    const text = Buffer.alloc(NOTE_BYTES_MAXIMUM)
    return text.toString('utf8', 0, file.readAt(text, 0, text.length))
  } catch {
    return ''
  } finally {
    file.close()
  }
}

function decoded(text: string): StartsNote | undefined {
  const [, opened, ends] = /^\{"openedMilliseconds":(\d{1,15}),"ends":(\d{1,3})\}$/.exec(text) ?? []
  return ends === undefined ? undefined : { openedMilliseconds: Number(opened), ends: Number(ends) }
}
