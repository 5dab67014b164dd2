/** Stores that make too little, or too much, of the note that a batch was refused. */
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { HeadFile } from '../../../engine/journal/head-mark.ts'
import { readJournal } from '../../../engine/journal/read-journal.ts'
import { alteredFiles } from './altered.ts'
import { cutAt } from './broken-engine.ts'

const HEAD = /\/journal\/HEAD$/
/** Where a mark names the refused batch. */
const NOTE = { from: 104, to: 128 } as const

function hasNote(slot: Uint8Array): boolean {
  return slot.subarray(NOTE.from, NOTE.to).some((byte) => byte !== 0)
}

/** Nobody says that a batch was refused. */
export function withoutNote(disk: Disk): Disk {
  return alteredFiles(disk, (file) => {
    if (!HEAD.test(file.path)) return {}
    return { writeAt: (bytes, position) => (hasNote(bytes) ? undefined : file.writeAt(bytes, position)) }
  })
}

/** It is said, and may be gone when the power is. */
export function withoutSyncOfNote(disk: Disk): Disk {
  return alteredFiles(disk, (file) => {
    if (!HEAD.test(file.path)) return {}
    let isNote = false
    return {
      writeAt: (bytes, position) => {
        isNote = hasNote(bytes)
        file.writeAt(bytes, position)
      },
      sync: () => (isNote ? undefined : file.sync()),
    }
  })
}

/** It is said, and the next start does not read it. */
export function deafToNote(disk: Disk): Disk {
  return alteredFiles(disk, (file) => {
    if (!HEAD.test(file.path)) return {}
    return {
      readAt: (target, position, length) => {
        const read = file.readAt(target, position, length)
        if (hasNote(target)) target.fill(0)
        return read
      },
    }
  })
}

/** Before it opens, the store cuts off the batch before the refused one as well. */
export function cutOneMore(disk: Disk, paths: StorePaths): void {
  if (!disk.exists(paths.head)) return
  const head = HeadFile.open(disk, paths)
  const mark = head.newest
  head.close()
  if (mark?.refused === undefined) return
  readJournal(disk, paths, undefined, {
    record: () => undefined,
    batch: ({ nextBatch }, { segmentFirstSequence, batchOffset }) => {
      if (nextBatch - 1 === mark.batch) cutAt(disk, paths, segmentFirstSequence, batchOffset)
    },
  })
}
