import { join } from 'node:path'
import type { Milliseconds } from '../engine/brands.ts'
import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { segmentFirsts } from '../engine/journal/segment.ts'
import type { SpaceGuard } from '../engine/payloads/space-guard.ts'
import { DATA_FILE } from '../projections/lmdb-environment.ts'
import {
  CHANGES_SHARE,
  type MadeSnapshot,
  type SnapshotRequest,
  wholeIsDue,
} from '../projections/snapshots/make-snapshot.ts'
import { descriptionOf } from '../projections/snapshots/restore-snapshot.ts'
import { type Chain, chainFiles, chains, filesOf, removeSuperseded } from '../projections/snapshots/snapshot-chain.ts'
import type { SnapshotFacts } from '../projections/snapshots/snapshot-facts.ts'
import { WorkStoppedError } from '../projections/steady-pace.ts'
import type { SnapshotRun } from '../projections/snapshots/snapshot-run.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

interface SnapshotOptions {
  readonly enabled: boolean
  /** Records after the last snapshot from which on the next one is made. */
  readonly records: number
  /** After this time, a snapshot is made as soon as a segment has been sealed since the last one. */
  readonly intervalMilliseconds: number
  readonly kept: number
  /** File names of snapshots that this start refused: they are replaced at once. */
  readonly refused: readonly string[]
  /** Free space that must be left. */
  readonly reservedBytes: number
  readonly request: Pick<SnapshotRequest, 'deploymentId' | 'keys'>
  /** Makes a snapshot, in another thread. */
  readonly run: (request: SnapshotRequest) => SnapshotRun
  /** The time of day. */
  readonly clock: () => Milliseconds
  /** Milliseconds of a clock that is never set. */
  readonly timer: () => number
  readonly onMade: (made: MadeSnapshot, seconds: number) => void
  readonly onFailure: (error: unknown) => void
}

/** How often it is looked whether a snapshot is due. */
const LOOK_MILLISECONDS = 5000
/** After a snapshot it rests this many times as long as that took, so that it never takes more than a fifth of the time. */
const REST = 4
const FAILED_REST_MILLISECONDS = 60_000

/**
 * Makes snapshots of the projections, so that a start after a power cut need not replay the whole journal
 * (spec/decisions/0104-snapshots-and-replay.md). The work is done in a separate thread.
 */
export class SnapshotMaker implements BackgroundWorker {
  readonly name = 'snapshots'
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #space: Pick<SpaceGuard, 'space' | 'isBelowReserve'>
  readonly #options: SnapshotOptions
  readonly #startedAt: number
  #run: { readonly run: SnapshotRun; readonly over: Promise<void> } | undefined
  #followerIsWhole = false
  #hasNoRoom = false
  #refused: readonly string[]
  #lookAt = 0
  #made = 0
  #writtenBytes = 0
  #failures = 0

  constructor(
    disk: Disk,
    paths: StorePaths,
    space: Pick<SpaceGuard, 'space' | 'isBelowReserve'>,
    options: SnapshotOptions,
  ) {
    this.#disk = disk
    this.#paths = paths
    this.#space = space
    this.#options = options
    this.#refused = options.refused
    this.#startedAt = options.timer()
  }

  get status(): string {
    return `${this.#made} snapshots made, ${this.#failures} failed`
  }

  get facts(): SnapshotFacts {
    const all = chains(this.#disk, this.#paths)
    const [first] = all
    const names = chainFiles(this.#disk, this.#paths)
    const { snapshotMaking, projectionsFollower } = this.#paths
    const files = [...names.map(({ path }) => path), snapshotMaking, join(projectionsFollower, DATA_FILE)]
    return {
      state: this.#state(),
      newest: first && this.#newest(first),
      count: all.length,
      changes: names.length - all.length,
      bytes: this.#bytesOf(files),
      made: this.#made,
      writtenBytes: this.#writtenBytes,
      failures: this.#failures,
    }
  }

  /** A snapshot was found damaged: another one is made as soon as it can be. */
  replace(name: string): void {
    this.#refused = [...this.#refused, name]
  }

  async step(): Promise<StepResult> {
    if (!this.#options.enabled) return 'done'
    if (this.#run !== undefined) return 'idle'
    if (this.#options.timer() < this.#lookAt) return 'idle'
    this.#lookAt = this.#options.timer() + LOOK_MILLISECONDS
    if (this.#space.isBelowReserve) this.#giveBack()
    else if (this.#isDue()) this.#begin()
    return 'idle'
  }

  async close(): Promise<void> {
    this.#run?.run.stop()
    await this.#run?.over
  }

  /** Resolves when no snapshot is being made. */
  async settled(): Promise<void> {
    await this.#run?.over
  }

  #state(): SnapshotFacts['state'] {
    if (!this.#options.enabled) return 'off'
    if (this.#run !== undefined) return 'making'
    return this.#hasNoRoom ? 'no-room' : 'waiting'
  }

  #bytesOf(files: readonly string[]): number {
    return files.reduce((sum, path) => sum + this.#disk.sizeOf(path), 0)
  }

  #newest(chain: Chain): NonNullable<SnapshotFacts['newest']> {
    const bytes = this.#bytesOf(filesOf(chain).map(({ path }) => path))
    return { sequence: chain.sequence, bytes, createdMilliseconds: this.#createdAt(chain) }
  }

  #createdAt(chain: Chain): number | undefined {
    const { path } = chain.changes.at(-1) ?? chain.whole
    try {
      return descriptionOf(this.#disk, path).createdMilliseconds
    } catch {
      // Damaged, or just removed: its use reports that.
      return undefined
    }
  }

  /** Only sealed segments are in a snapshot. */
  #isDue(): boolean {
    const sealed = (segmentFirsts(this.#disk, this.#paths).at(-1) ?? 0) - 1
    const newest = chains(this.#disk, this.#paths, this.#refused).find(({ sequence }) => sequence <= sealed)
    const lacking = sealed - (newest?.sequence ?? -1)
    if (sealed >= 0 && this.#refused.length > 0) return true
    if (lacking <= 0) return false
    if (lacking >= this.#options.records) return true
    const age = this.#options.timer() - this.#startedAt
    const created = newest && this.#createdAt(newest)
    const elapsed = created === undefined ? age : this.#options.clock() - created
    return elapsed >= this.#options.intervalMilliseconds
  }

  #begin(): void {
    const { request, reservedBytes, kept } = this.#options
    if (!this.#makeRoom()) return
    const began = this.#options.timer()
    const refused = this.#refused
    const run = this.#options.run({
      ...request,
      reservedBytes,
      kept,
      changesShare: CHANGES_SHARE,
      refused,
      followerIsWhole: this.#followerIsWhole,
      createdMilliseconds: this.#options.clock(),
    })
    this.#followerIsWhole = false
    const over = run.ended
      .then(
        (made) => this.#ended(made, refused, this.#options.timer() - began),
        (error: unknown) => this.#failed(error),
      )
      .finally(() => {
        this.#run = undefined
      })
    this.#run = { run, over }
  }

  /**
   * The follower grows to about the size of the projections, and a whole snapshot with it. A file of changes takes its share of one: where
   * another whole one turns out to be due, that fails, and then room is made for it.
   */
  #makeRoom(): boolean {
    const { projections, projectionsFollower } = this.#paths
    const size = this.#disk.sizeOf(join(projections, DATA_FILE))
    const follower = this.#disk.sizeOf(join(projectionsFollower, DATA_FILE))
    const written = this.#wholeIsDue() ? size : CHANGES_SHARE * size
    const needed = Math.ceil(written) + Math.max(0, size - follower) + this.#options.reservedBytes
    const hasRoom = () => this.#disk.space(this.#paths.root).availableBytes >= needed
    if (!hasRoom()) this.#removeOlder()
    const had = this.#hasNoRoom
    this.#hasNoRoom = !hasRoom()
    if (this.#hasNoRoom && !had) {
      this.#failures += 1
      this.#options.onFailure(new Error(`a snapshot of the projections needs ${needed} bytes of free space`))
    }
    return !this.#hasNoRoom
  }

  #wholeIsDue(): boolean {
    return wholeIsDue(
      this.#disk,
      this.#paths,
      { kept: this.#options.kept, changesShare: CHANGES_SHARE },
      this.#refused,
      0,
    )
  }

  /** On a full disk all but the newest snapshot makes way for what cannot be made again. */
  #giveBack(): void {
    this.#removeOlder()
    this.#disk.removeTree(this.#paths.projectionsFollower)
    this.#followerIsWhole = false
    this.#hasNoRoom = true
  }

  #removeOlder(): void {
    removeSuperseded(this.#disk, this.#paths, 1)
  }

  /** @param refused what the run was to replace: others may have been found damaged meanwhile */
  #ended(made: MadeSnapshot | undefined, refused: readonly string[], milliseconds: number): void {
    this.#lookAt = Math.max(this.#lookAt, this.#options.timer() + REST * milliseconds)
    this.#refused = this.#refused.slice(refused.length)
    if (made === undefined) return
    this.#followerIsWhole = true
    this.#made += 1
    this.#writtenBytes += made.bytes
    this.#options.onMade(made, milliseconds / 1000)
  }

  #failed(error: unknown): void {
    if (error instanceof WorkStoppedError) return
    this.#lookAt = this.#options.timer() + FAILED_REST_MILLISECONDS * 2 ** Math.min(6, this.#failures)
    this.#failures += 1
    this.#options.onFailure(error)
  }
}
