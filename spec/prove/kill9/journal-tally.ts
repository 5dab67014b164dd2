/** What happened in the life of a store, by its journal. */
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { decodeEntry } from '../../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../../engine/journal/format.ts'
import { readJournal } from '../../../engine/journal/read-journal.ts'
import { readLinkedSegments } from '../../../engine/journal/recovery/linked-segments.ts'

export interface JournalTally {
  /** Of the server. */
  readonly starts: number
  /** Segments after the first. */
  readonly rotations: number
  /** Segments that are compressed. */
  readonly compressed: number
  /** Volumes that were removed after something was moved out of them. */
  readonly compactions: number
}

/**
 * Reads the whole journal, each record proved on the way. One volume is compacted at a time, so what is moved between
 * two removals was in the volume that is removed then.
 * @throws JournalDamagedError
 */
export function journalTally(paths: StorePaths): JournalTally {
  let starts = 0
  let compactions = 0
  let hasMoved = false
  readJournal(nodeDisk, paths, undefined, {
    record: ({ kind, body }) => {
      if (kind !== RECORD_KIND.change) return
      for (const { name } of decodeEntry(Buffer.from(body)).changes) {
        if (name === 'server.started') starts += 1
        if (name === 'payload.moved') hasMoved = true
        if (name !== 'volume.removed') continue
        if (hasMoved) compactions += 1
        hasMoved = false
      }
    },
    batch: () => undefined,
  })
  const { segments } = readLinkedSegments(nodeDisk, paths, undefined)
  const compressed = segments.filter(({ isCold }) => isCold).length
  return { starts, rotations: segments.length - 1, compressed, compactions }
}
