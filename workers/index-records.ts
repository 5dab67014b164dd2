import type { Sequence } from '../engine/brands.ts'
import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import type { SpaceGuard } from '../engine/payloads/space-guard.ts'
import { BackgroundThreadError } from '../projections/background-thread.ts'
import type { IndexCheck } from '../projections/record-index/check-index.ts'
import type { IndexRun } from '../projections/record-index/index-run.ts'
import type { IndexTask } from '../projections/record-index/make-index.ts'
import { nextTask } from '../projections/record-index/next-task.ts'
import { WorkStoppedError } from '../projections/steady-pace.ts'
import { DailyPasses } from './daily-passes.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

interface RecordIndexingOptions {
  readonly enabled: boolean
  /** Free space that must be left. */
  readonly reservedBytes: number
  /** Sequence of the last durable record. */
  readonly lastDurable: () => Sequence | undefined
  /** Makes a file, in another thread. */
  readonly run: (task: IndexTask) => IndexRun
  /** Milliseconds of a clock that is never set. */
  readonly timer: () => number
  /** A file is damaged: it is removed, and made again. */
  readonly onDamage: (path: string, reason: string) => void
  readonly onFailure: (error: unknown) => void
}

/** How often it is looked whether a segment was sealed. */
const LOOK_MILLISECONDS = 5000
const FAILED_REST_MILLISECONDS = 60_000
/** Free space on top of what a file needs at most. */
const BESIDE_BYTES = 32 << 20

/**
 * Makes the files of the record index: of records that none has, the oldest first, and one of ten neighbours of a level
 * (spec/decisions/0259-record-index.md). The work is done in a separate thread. Once a day all files are read.
 */
export class RecordIndexing implements BackgroundWorker {
  readonly name = 'index-records'
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #space: Pick<SpaceGuard, 'space' | 'isBelowReserve'>
  readonly #check: Pick<IndexCheck, 'next' | 'close'>
  readonly #options: RecordIndexingOptions
  readonly #passes: DailyPasses
  /** First sequences of segments that cannot be indexed: they are damaged. Another start tries again. */
  readonly #refused = new Set<number>()
  #run: { readonly run: IndexRun; readonly over: Promise<void> } | undefined
  #lookAt = 0
  #made = 0
  #failures = 0
  #hasNoRoom = false

  constructor(
    disk: Disk,
    paths: StorePaths,
    space: Pick<SpaceGuard, 'space' | 'isBelowReserve'>,
    check: Pick<IndexCheck, 'next' | 'close'>,
    options: RecordIndexingOptions,
  ) {
    this.#disk = disk
    this.#paths = paths
    this.#space = space
    this.#check = check
    this.#options = options
    this.#passes = new DailyPasses(options.timer)
  }

  get status(): string {
    const room = this.#hasNoRoom ? ', waits for free space' : ''
    return `${this.#made} files of the record index made, ${this.#refused.size} segments are damaged${room}`
  }

  async step(): Promise<StepResult> {
    if (!this.#options.enabled) return 'done'
    if (this.#run !== undefined) return 'idle'
    if (this.#passes.isOn()) this.#checkSome()
    if (this.#options.timer() < this.#lookAt) return 'idle'
    const task = this.#task()
    if (task === undefined || !this.#hasRoom(task)) this.#lookAt = this.#options.timer() + LOOK_MILLISECONDS
    else this.#begin(task)
    return 'idle'
  }

  /** Resolves when a file is made: there may be another one to make. */
  woken(): Promise<void> {
    return this.#run?.over ?? new Promise(() => undefined)
  }

  async close(): Promise<void> {
    this.#run?.run.stop()
    await this.#run?.over
    this.#check.close()
  }

  #checkSome(): void {
    const result = this.#check.next()
    if (result === 'over') this.#passes.end()
    else if (result !== 'more') this.#options.onDamage(result.path, result.reason)
  }

  #task(): IndexTask | undefined {
    const end = this.#options.lastDurable()
    return end === undefined
      ? undefined
      : nextTask(this.#disk, this.#paths, end, (segment) => this.#refused.has(segment))
  }

  /** A file is smaller than the segment that it is of, and one of several is about as large as they are. */
  #hasRoom(task: IndexTask): boolean {
    const needed = pathsOf(this.#paths, task).reduce((sum, path) => sum + this.#disk.sizeOf(path), BESIDE_BYTES)
    const { availableBytes } = this.#space.space
    this.#hasNoRoom = this.#space.isBelowReserve || availableBytes < needed + this.#options.reservedBytes
    return !this.#hasNoRoom
  }

  #begin(task: IndexTask): void {
    const run = this.#options.run(task)
    const over = run.ended
      .then(
        (made) => {
          if (made === undefined) this.#lookAt = this.#options.timer() + LOOK_MILLISECONDS
          else this.#made += 1
        },
        (error: unknown) => this.#failed(task, error),
      )
      .finally(() => {
        this.#run = undefined
      })
    this.#run = { run, over }
  }

  #failed(task: IndexTask, error: unknown): void {
    if (error instanceof WorkStoppedError) return
    const reason = error instanceof BackgroundThreadError ? error.reason : (error as Error).name
    const damaged = filesOf(task).find((path) => (error as Error).message.includes(path))
    if (damaged !== undefined && reason === 'RecordIndexDamagedError') {
      this.#options.onDamage(damaged, (error as Error).message)
      return
    }
    if (task.kind === 'records' && reason.endsWith('DamagedError')) this.#refused.add(task.segment)
    else this.#lookAt = this.#options.timer() + FAILED_REST_MILLISECONDS * 2 ** Math.min(6, this.#failures)
    this.#failures += 1
    this.#options.onFailure(error)
  }
}

function filesOf(task: IndexTask): readonly string[] {
  if (task.kind === 'merge') return task.files.map(({ path }) => path)
  return task.after === undefined ? [] : [task.after]
}

function pathsOf(paths: StorePaths, task: IndexTask): readonly string[] {
  return task.kind === 'merge' ? filesOf(task) : [paths.segment(task.segment)]
}
