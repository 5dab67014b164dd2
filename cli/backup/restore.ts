import { join, resolve } from 'node:path'
import { microsecondsOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { systemClock } from '../../engine/clock.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import type { LastRecord } from '../../engine/journal/positions.ts'
import { writeRestoreNote } from '../../engine/journal/recovery/restore-note.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { ExitError } from '../exit-codes.ts'
import { journalBeingRestored } from '../server/store/whole-directory.ts'
import { absentPayloads, type ExistingBackup, existingBackup, requirePoint } from './checked-backup.ts'
import { Copier } from './copier.ts'
import { cutAt } from './cut-disk.ts'
import { cutJournal } from './cut-journal.ts'
import type { BackupContents, BackupRun } from './manifest.ts'
import { checkPayloads, type PayloadReport } from './payload-check.ts'
import { copyPayloads } from './payload-copy.ts'
import { PayloadState } from './payload-state.ts'

const LOSSES_SHOWN_MAXIMUM = 20

interface RestoreOptions {
  /** The last record of the restored journal; undefined for the newest point. */
  readonly at: number | undefined
  /** Restores although payloads are not in the backup; reads of their objects end in an error. */
  readonly acceptLosses: boolean
  readonly bytesPerSecond: number | undefined
  readonly threads: number
  readonly masterKey?: Uint8Array
  readonly progress: (text: string) => void
}

export interface RestoreReport {
  readonly deploymentId: string
  readonly last: LastRecord
  readonly payloads: PayloadReport
  readonly bytes: number
  readonly losses: readonly string[]
}

/**
 * Restores a backup into a new directory, up to a record. The journal gets its name last, after everything was read back:
 * until then no server opens the directory. What fails is removed again.
 * @throws ExitError, and the errors of the disk
 */
export async function restoreBackup(
  disk: Disk,
  from: string,
  to: string,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const existing = existingBackup(disk, from)
  const { last } = existing
  requirePoint(existing)
  const at = recordOf(last, options.at)
  const target = new StorePaths(resolve(to))
  requireEmpty(disk, target)
  disk.makeDirectory(target.root)
  const lock = await lockStore(disk, target.root)
  try {
    requireEmpty(disk, target)
    return await new Restore(disk, existing, target, options).run(at)
  } finally {
    await lock.release()
  }
}

function recordOf({ point }: BackupRun, at: number | undefined): Sequence {
  if (at === undefined || at === point.sequence) return point.sequence
  if (at < point.sequence) return sequenceOf(at)
  throw new ExitError('notFound', `the backup ends with record ${point.sequence}, before ${at}`)
}

/** @throws ExitError */
function requireEmpty(disk: Disk, target: StorePaths): void {
  const others = disk.list(target.root).filter((name) => join(target.root, name) !== target.lock)
  if (others.length === 0) return
  const what = disk.exists(journalBeingRestored(target))
    ? 'has what a restore left that did not finish'
    : 'is not empty'
  throw new ExitError('usage', `${target.root} ${what}; give a new directory, or remove what is in it`)
}

class Restore {
  readonly #disk: Disk
  /** The disk of the backup, which opens regular files alone. */
  readonly #source: Disk
  readonly #backup: StorePaths
  readonly #contents: BackupContents
  readonly #target: StorePaths
  /** Where the journal is until the end. */
  readonly #work: StorePaths
  readonly #options: RestoreOptions
  readonly #copier: Copier

  constructor(
    disk: Disk,
    { disk: source, backup, contents }: ExistingBackup,
    target: StorePaths,
    options: RestoreOptions,
  ) {
    this.#disk = disk
    this.#source = source
    this.#backup = backup
    this.#contents = contents
    this.#target = target
    this.#work = new StorePaths(target.restoring)
    this.#options = options
    this.#copier = new Copier(disk, options.bytesPerSecond, () => {
      options.progress(`${(this.#copier.bytes / 1024 ** 2).toFixed(1)} MiB copied`)
    })
  }

  async run(at: Sequence): Promise<RestoreReport> {
    try {
      // This name keeps servers away from here on.
      this.#disk.makeDirectory(journalBeingRestored(this.#target))
      const last = await this.#restoreJournal(at)
      const { payloads, losses } = await this.#restorePayloads(last)
      await this.#verifyJournal(last)
      this.#publish()
      return { deploymentId: this.#contents.deploymentId, last, payloads, bytes: this.#copier.bytes, losses }
    } catch (error) {
      if (!this.#disk.exists(this.#target.journal)) this.#removeAll()
      throw error
    }
  }

  async #restoreJournal(at: Sequence): Promise<LastRecord> {
    const { point, made } = this.#contents.runs.at(-1) as BackupRun
    const from = { disk: cutAt(this.#source, this.#backup, point), paths: this.#backup }
    const last = await cutJournal(this.#disk, from, this.#work, at, this.#copier)
    const { sequence, batch, head } = last
    const mark = HeadFile.open(this.#disk, this.#work)
    try {
      mark.writeBoth({ sequence, batch, head, clean: false, bootId: '' })
    } finally {
      mark.close()
    }
    const restored = systemClock()
    writeRestoreNote(this.#disk, this.#work, {
      last: sequence,
      head,
      backedUp: microsecondsOf(Date.parse(made) * 1000),
      restored,
    })
    this.#disk.syncDirectory(this.#work.journal)
    return last
  }

  async #restorePayloads({ sequence }: LastRecord): Promise<{
    readonly payloads: PayloadReport
    readonly losses: readonly string[]
  }> {
    const { progress, acceptLosses } = this.#options
    const state = PayloadState.open(this.#disk, this.#work, join(this.#target.restoring, 'state'))
    try {
      state.advance(sequence, (records) => progress(`${records.toLocaleString('en')} records read`))
      const losses = absentPayloads(state, this.#contents)
      if (losses.length > 0 && !acceptLosses) throw this.#refusal(sequence, losses)
      const from = { ...this.#contents, volumes: new Map<number, number>(), files: new Map() }
      for (const path of [this.#target.volumes, this.#target.files]) this.#disk.makeDirectory(path)
      await copyPayloads(this.#source, this.#backup, this.#target, state, from, this.#copier, this.#contents.volumes)
      const journal = { disk: this.#disk, paths: this.#work, until: sequence }
      const payloads = checkPayloads(this.#disk, journal, this.#target, state, this.#contents.files, (bytes) =>
        progress(`${(bytes / 1024 ** 2).toFixed(1)} MiB of payloads verified`),
      )
      if (payloads.problems.length > losses.length) throw damagedPayloads(payloads.problems)
      return { payloads, losses }
    } finally {
      await state.close()
    }
  }

  #refusal(sequence: Sequence, losses: readonly string[]): ExitError {
    const points = this.#contents.runs.map(({ point }) => point.sequence).join(', ')
    const what = losses.slice(0, LOSSES_SHOWN_MAXIMUM).map((loss) => `  ${loss}`)
    const head =
      `at record ${sequence} the store had ${losses.length} payload(s) that no backup has copied; it is whole at ${points}, ` +
      'and --accept-losses restores it without them'
    return new ExitError('dataLost', [head, ...what].join('\n'))
  }

  async #verifyJournal({ sequence, head }: LastRecord): Promise<void> {
    const { threads, masterKey, progress } = this.#options
    const report = await verifyJournal(this.#work.journal, {
      threads,
      expectedHead: { sequence, hash: Buffer.from(head).toString('hex') },
      ...(masterKey && { masterKey }),
      onProgress: ({ records }) => progress(`${records.toLocaleString('en')} records verified`),
    })
    const [problem] = report.problems
    const [unknown] = report.newer
    if (problem === undefined && unknown !== undefined) {
      const what = `record ${unknown.sequence} of the restored journal is of a kind that only a newer version knows`
      throw new ExitError('newerFormat', `${what}, ${unknown.what}: restore it with that version`)
    }
    if (problem === undefined && report.headSequence === sequence) return
    const why =
      problem === undefined
        ? `it ends at ${report.headSequence}`
        : `${problem.segment} offset ${problem.offset}: ${problem.detail}`
    throw new ExitError('storeDamaged', `the restored journal is not intact: ${why}`)
  }

  /** The rename makes it a store. */
  #publish(): void {
    this.#disk.syncDirectory(this.#target.payloads)
    this.#disk.rename(this.#work.journal, this.#target.journal)
    this.#disk.syncDirectory(this.#target.root)
    this.#disk.removeTree(this.#target.restoring)
  }

  #removeAll(): void {
    this.#disk.removeTree(this.#target.payloads)
    this.#disk.removeTree(this.#target.restoring)
  }
}

function damagedPayloads(problems: readonly string[]): ExitError {
  const what = problems.slice(0, LOSSES_SHOWN_MAXIMUM).map((problem) => `  ${problem}`)
  return new ExitError('storeDamaged', [`the backup is damaged: ${problems.length} payload(s)`, ...what].join('\n'))
}
