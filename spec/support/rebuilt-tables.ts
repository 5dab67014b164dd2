import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { replay } from '../../projections/replay/replay.ts'
import { dumpTables, roomyDisk } from './test-store.ts'

/** Every row that the journal of a store leads to, made from nothing. */
export async function rebuiltTables(paths: StorePaths, disk: Disk = roomyDisk): Promise<Record<string, string[]>> {
  const directory = join(paths.root, 'rebuilt')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  try {
    replay(disk, paths, environment, undefined, { aheadFromBytes: 0 })
    return dumpTables(environment)
  } finally {
    await environment.close()
  }
}
