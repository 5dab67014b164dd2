/** What stands in the journal of a data directory, for specs of what must stand there. */
import { readFileSync } from 'node:fs'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { decodeEntry, type Entry } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'

/** An audit or change record. */
export interface JournalEntry extends Entry {
  readonly sequence: number
  readonly orderMicroseconds: number
  readonly timeMicroseconds: number
  /** Metadata as a map: names are never repeated. */
  readonly details: ReadonlyMap<string, string | number>
}

/**
 * Every entry of the journal, each record proved on the way.
 * @throws JournalDamagedError, also when a batch is being written at this moment
 */
export function journalEntries(dataDirectory: string, disk: Disk = nodeDisk): JournalEntry[] {
  const entries: JournalEntry[] = []
  readJournal(disk, new StorePaths(dataDirectory), undefined, {
    record: ({ kind, sequence, orderMicroseconds, timeMicroseconds, body }) => {
      if (kind !== RECORD_KIND.change && kind !== RECORD_KIND.audit) return
      const entry = decodeEntry(Buffer.from(body))
      entries.push({ ...entry, sequence, orderMicroseconds, timeMicroseconds, details: detailsOf(entry.metadata) })
    },
    batch: () => undefined,
  })
  return entries
}

function detailsOf(metadata: readonly (string | number)[]): Map<string, string | number> {
  const details = new Map<string, string | number>()
  for (let index = 0; index < metadata.length; index += 2) {
    details.set(String(metadata[index]), metadata[index + 1] as string | number)
  }
  return details
}

/** Every byte of every journal file, as latin1 text to search in. */
export function journalText(dataDirectory: string): string {
  const { journal } = new StorePaths(dataDirectory)
  return nodeDisk
    .list(journal)
    .filter((name) => name.endsWith('.segment'))
    .map((name) => readFileSync(`${journal}/${name}`, 'latin1'))
    .join('')
}
