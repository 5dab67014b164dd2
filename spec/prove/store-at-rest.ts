/** What is wrong with the files of a store, looked at from outside. */
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { TABLES } from '../../projections/tables/table-list.ts'

const LOOKS_MAXIMUM = 300
const LOOK_MILLISECONDS = 100

/** Paths of all files below a directory. */
export function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Bytes of all files below a directory. Files that go away meanwhile count nothing. */
export function bytesIn(directory: string): number {
  return filesIn(directory).reduce((total, path) => total + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
}

/** Faults of the journal as a server left it, by a kill or in order. */
export async function journalFaults(paths: StorePaths, stopped: 'killed' | 'in order'): Promise<string[]> {
  const options = { threads: 0, settleMilliseconds: 0 }
  const { intact, problems, openSegmentTornTail } = await verifyJournal(paths.journal, options)
  const damage = intact ? [] : [`the journal is damaged: ${JSON.stringify(problems)}`]
  const isTorn = stopped === 'in order' && openSegmentTornTail !== undefined
  return isTorn ? [...damage, 'a stop in order left a torn batch'] : damage
}

/** Compares everything with everything after a stop in order. */
export async function faultsAtRest(
  paths: StorePaths,
): Promise<{ readonly faults: string[]; readonly records: number }> {
  const faults = await journalFaults(paths, 'in order')
  const { records, differences, differenceCount } = await checkProjections(nodeDisk, paths)
  if (differenceCount > 0) faults.push(`rebuilt projections differ: ${JSON.stringify(differences[0])}`)
  const unfinished = readdirSync(paths.journal).filter((name) => /rewrite|making|spare/.test(name))
  for (const path of [...filesIn(paths.uploads), ...unfinished]) faults.push(`left half made: ${path}`)
  return { faults, records }
}

/** Waits until the payload files on disk are those that the catalog knows; returns those that are too many. */
export async function surplusFiles(paths: StorePaths): Promise<string[]> {
  const projections = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    let surplus: string[] = []
    for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
      projections.refresh()
      const known = new Set(Array.from(projections.table(TABLES.payloadFiles).keys({}), (key) => key.toString()))
      surplus = filesIn(paths.files).filter((path) => !known.has(basename(path)))
      if (surplus.length === 0) break
      await pause(LOOK_MILLISECONDS)
    }
    return surplus
  } finally {
    await projections.close()
  }
}
