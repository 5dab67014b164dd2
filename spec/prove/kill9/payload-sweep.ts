import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { PAYLOAD_FILES } from '../../../projections/tables/payloads.ts'

const LOOKS_MAXIMUM = 300
const LOOK_MILLISECONDS = 100

/** Names of all files below a directory. */
export function filesIn(directory: string): string[] {
  return entriesIn(directory).map(({ name }) => name)
}

/** Bytes of all files below a directory, by their lengths. */
export function bytesIn(directory: string): number {
  return entriesIn(directory).reduce((total, { parentPath, name }) => total + statSync(join(parentPath, name)).size, 0)
}

function entriesIn(directory: string) {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
}

/** Waits until the payload files on disk are those that the catalog knows; returns those that are too many. */
export async function sweptFiles(paths: StorePaths): Promise<string[]> {
  const projections = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    let surplus: string[] = []
    for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
      projections.refresh()
      const known = new Set(Array.from(projections.table(PAYLOAD_FILES).keys({}), (key) => key.toString()))
      surplus = filesIn(paths.files).filter((name) => !known.has(name))
      if (surplus.length === 0) break
      await pause(LOOK_MILLISECONDS)
    }
    return surplus
  } finally {
    await projections.close()
  }
}
