import { existsSync, rmSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { chainFiles, chains, filesOf } from '../../../projections/snapshots/snapshot-chain.ts'
import { type Finding, wrong } from '../../support/dying-servers/client-findings.ts'
import { flipByte } from '../../support/journal-files.ts'
import type { Random } from '../../support/random.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import type { KillCounts } from './kill-counts.ts'

/** Records after the last snapshot from which on the next one is made. */
const RECORDS = 1000
/** So many records are in a few segments of the smallest size; a snapshot of the small store takes a moment to write. */
export const SNAPSHOT_SETTINGS = {
  OBJECT_STORE_SNAPSHOTS_RECORDS: String(RECORDS),
  OBJECT_STORE_SNAPSHOTS_MIB_PER_SECOND: '16',
}
/** Before one start of so many the projections are removed, so that it begins with a snapshot. */
const LOSSES = 4
/** Before each third one of these a file of the newest snapshot is damaged, if there is one: by chance a short run would have none. */
const DAMAGES = 3
/** One server of so many that must make a snapshot is let live until it is complete; the first one always. */
const WAITS = 2
const LOOK_MILLISECONDS = 20
const LINES_TOLD = 5

/** Snapshots of a store that is killed: what became of them, and starts that have nothing else. */
export class SnapshotKills {
  readonly #paths: StorePaths
  readonly #random: Random
  readonly #counts: KillCounts
  readonly #seen = new Set<string>()
  #losses = 0
  #waits = 0

  constructor(paths: StorePaths, random: Random, counts: KillCounts) {
    this.#paths = paths
    this.#random = random
    this.#counts = counts
  }

  /** Counts what a kill has left. */
  killed(): void {
    if (existsSync(this.#paths.snapshotMaking)) this.#counts.inSnapshot += 1
    for (const { name } of chainFiles(nodeDisk, this.#paths)) {
      if (!this.#seen.has(name)) this.#counts.snapshots += 1
      this.#seen.add(name)
    }
  }

  /** Between a kill and a start. */
  lose(): void {
    if (this.#random.below(LOSSES) > 0) return
    rmSync(this.#paths.projections, { recursive: true, force: true })
    const [chain] = chains(nodeDisk, this.#paths)
    const newest = chain && filesOf(chain).at(-1 - this.#random.below(chain.changes.length + 1))
    if (newest === undefined) return
    this.#losses += 1
    if (this.#losses % DAMAGES > 0) return
    flipByte(newest.path, this.#random.below(statSync(newest.path).size))
  }

  /**
   * Has some servers live until the snapshot that is due is complete. On a busy machine its thread, which has a low
   * priority, may not come to an end before any kill, and each start begins it anew. Returns what went wrong.
   */
  async wait({ process, log }: Pick<ProcessServer, 'process' | 'log'>): Promise<Finding[]> {
    if (!this.#isDue()) return []
    if (this.#waits > 0 && this.#random.below(WAITS) > 0) return []
    this.#waits += 1
    // Whoever started the server kills it when it hangs.
    while (process.exitCode === null && process.signalCode === null) {
      if (!this.#isDue()) return []
      if (log.some((line) => line.includes('no snapshot of the projections could be made'))) break
      await pause(LOOK_MILLISECONDS)
    }
    return [wrong(`a snapshot was due and not made:\n${log.slice(-LINES_TOLD).join('\n')}`)]
  }

  /** Only sealed segments are in a snapshot. */
  #isDue(): boolean {
    const sealed = (segmentFirsts(nodeDisk, this.#paths).at(-1) ?? 0) - 1
    const newest = chains(nodeDisk, this.#paths)[0]?.sequence ?? -1
    return sealed - newest >= RECORDS
  }

  /** Counts what a start says of snapshots. */
  started(log: readonly string[]): void {
    if (log.some((line) => line.includes('"snapshot":"') && line.includes('the store is open')))
      this.#counts.fromSnapshot += 1
    if (log.some((line) => line.includes('could not be used at this start'))) this.#counts.refused += 1
  }
}
