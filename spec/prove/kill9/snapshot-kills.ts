import { existsSync, rmSync, statSync } from 'node:fs'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import { flipByte } from '../../support/journal-files.ts'
import type { Random } from '../../support/random.ts'
import type { KillCounts } from './kill-counts.ts'

/** So many records are in a few segments of the smallest size; a snapshot of the small store takes a moment to write. */
export const SNAPSHOT_SETTINGS = {
  OBJECT_STORE_SNAPSHOTS_RECORDS: '1000',
  OBJECT_STORE_SNAPSHOTS_MIB_PER_SECOND: '16',
}
/** Before one start of so many the projections are removed, so that it begins with a snapshot. */
const LOSSES = 5
/** Before one of so many of these the newest snapshot is damaged. */
const DAMAGES = 4

/** Snapshots of a store that is killed: what became of them, and starts that have nothing else. */
export class SnapshotKills {
  readonly #paths: StorePaths
  readonly #random: Random
  readonly #counts: KillCounts
  readonly #seen = new Set<string>()

  constructor(paths: StorePaths, random: Random, counts: KillCounts) {
    this.#paths = paths
    this.#random = random
    this.#counts = counts
  }

  /** Counts what a kill has left. */
  killed(): void {
    if (existsSync(this.#paths.snapshotMaking)) this.#counts.inSnapshot += 1
    for (const { name } of usableNames(nodeDisk, this.#paths)) {
      if (!this.#seen.has(name)) this.#counts.snapshots += 1
      this.#seen.add(name)
    }
  }

  /** Between a kill and a start. */
  lose(): void {
    if (this.#random.below(LOSSES) > 0) return
    rmSync(this.#paths.projections, { recursive: true, force: true })
    const [newest] = usableNames(nodeDisk, this.#paths)
    if (newest === undefined || this.#random.below(DAMAGES) > 0) return
    flipByte(newest.path, this.#random.below(statSync(newest.path).size))
  }

  /** Counts what a start says of snapshots. */
  started(log: readonly string[]): void {
    if (log.some((line) => line.includes('"snapshot":"') && line.includes('the store is open')))
      this.#counts.fromSnapshot += 1
    if (log.some((line) => line.includes('could not be used at this start'))) this.#counts.refused += 1
  }
}
