import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../../brands.ts'
import type { Disk } from '../../disk/disk.ts'
import type { StorePaths } from '../../disk/store-paths.ts'
import { HASH_BYTES } from '../format.ts'
import { JournalDamagedError } from '../journal-errors.ts'

/** Written by a restore into the journal's folder; the next start records it (spec/formats/backup.md). */
interface RestoreNote {
  /** The last record that was restored. */
  readonly last: Sequence
  readonly head: Uint8Array
  readonly backedUp: Microseconds
  readonly restored: Microseconds
}

const LARGEST_BYTES = 4096

/** Writes the note durably, but for its name. */
export function writeRestoreNote(disk: Disk, paths: StorePaths, { last, head, backedUp, restored }: RestoreNote): void {
  const file = disk.create(paths.restored)
  try {
    const hash = Buffer.from(head).toString('hex')
    file.writeAt(Buffer.from(`${JSON.stringify({ last, hash, backed_up: backedUp, restored })}\n`), 0)
    file.sync()
  } finally {
    file.close()
  }
}

/**
 * The note; undefined when the journal was not restored, or that is recorded.
 * @throws JournalDamagedError
 */
export function readRestoreNote(disk: Disk, paths: StorePaths): RestoreNote | undefined {
  if (!disk.exists(paths.restored)) return undefined
  const bytes = Buffer.alloc(Math.min(LARGEST_BYTES, disk.sizeOf(paths.restored)))
  const file = disk.openToRead(paths.restored)
  try {
    file.readAt(bytes, 0, bytes.length)
  } finally {
    file.close()
  }
  const note = noteOf(bytes.toString('utf8'))
  if (note === undefined) {
    throw new JournalDamagedError(
      `${paths.restored} is damaged: it says that the journal was restored from a backup; remove it to start without a record of that`,
    )
  }
  return note
}

function noteOf(text: string): RestoreNote | undefined {
  try {
    const { last, hash, backed_up: backedUp, restored } = JSON.parse(text) as Readonly<Record<string, unknown>>
    const isWhole = [last, backedUp, restored].every((value) => Number.isSafeInteger(value) && (value as number) >= 0)
    const head = Buffer.from(String(hash), 'hex')
    if (!isWhole || head.length !== HASH_BYTES) return undefined
    return {
      last: sequenceOf(last as number),
      head,
      backedUp: microsecondsOf(backedUp as number),
      restored: microsecondsOf(restored as number),
    }
  } catch {
    return undefined
  }
}

/** The note is recorded in the journal. */
export function removeRestoreNote(disk: Disk, paths: StorePaths): void {
  disk.remove(paths.restored)
  disk.syncDirectory(paths.journal)
}
