import { join, resolve, sep } from 'node:path'
import { rfc3339, systemClock, systemMilliseconds } from '../../engine/clock.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { holdStore } from '../../engine/disk/store-holds.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { requireKnownFormat } from '../../engine/journal/known-format.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { decodeGenesis } from '../../engine/journal/bodies.ts'
import { readGenesis } from '../../engine/journal/read-journal.ts'
import { ExitError } from '../exit-codes.ts'
import { BackupNote, type NotedBackup } from './backup-note.ts'
import { Copier } from './copier.ts'
import { durableEnd } from './durable-end.ts'
import { copyJournal, requireSameHistory } from './journal-copy.ts'
import { type BackupContents, type JournalPoint, readManifests, writeManifest } from './manifest.ts'
import { type CopiedPayloads, copyPayloads } from './payload-copy.ts'
import { PayloadState } from './payload-state.ts'
import { pruneBackup, type PruneReport } from './prune.ts'

/** With more the store loses payloads as fast as they are copied; missing ones are reported then. */
const ROUNDS_MAXIMUM = 3

interface BackupOptions {
  /** Undefined: as fast as the disks are. */
  readonly bytesPerSecond: number | undefined
  /** Removes payloads that the store does not refer to any more. */
  readonly prune: boolean
  readonly progress: (text: string) => void
}

export interface BackupReport {
  readonly run: number
  readonly point: JournalPoint
  readonly deploymentId: string
  /** Records that the run added. */
  readonly records: number
  readonly files: number
  readonly volumes: number
  readonly bytes: number
  readonly missing: readonly string[]
  readonly pruned: PruneReport | undefined
  /** Why the store has no note of this backup, so that its metrics name an earlier one. */
  readonly unnoted: string | undefined
}

/**
 * Makes a backup of a store, or brings one up to date. A server may be running on the store. The backup has all entries
 * acknowledged before the call, and all payloads that its journal refers to.
 *
 * The order makes it so (spec/decisions/0107-backup-and-restore.md): the store is held, so it removes
 * nothing that is released from now on; then the end of the journal is chosen; then the journal is copied up to it, and
 * from the copy the payloads that it refers to there. The manifest is written last.
 * @throws ExitError, and the errors of the disk and of a damaged journal
 */
export async function makeBackup(
  disk: Disk,
  store: StorePaths,
  directory: string,
  options: BackupOptions,
): Promise<BackupReport> {
  requireStore(disk, store)
  const backup = openBackup(disk, store, directory)
  const lock = await lockStore(disk, backup.root)
  try {
    markBackup(disk, backup)
    const contents = readManifests(disk, backup.root)
    const deploymentId = deploymentOf(disk, store)
    if (contents.runs.length > 0 && contents.deploymentId !== deploymentId) {
      throw new ExitError('failed', `${backup.root} is the backup of another store, ${contents.deploymentId}`)
    }
    const hold = await holdStore(disk, store)
    try {
      return await new BackupMaking(disk, store, backup, contents, deploymentId, options).run()
    } finally {
      await hold.release()
    }
  } finally {
    await lock.release()
  }
}

/** One run, on a store that is held and a backup that is locked. */
class BackupMaking {
  readonly #disk: Disk
  readonly #store: StorePaths
  readonly #backup: StorePaths
  readonly #contents: BackupContents
  readonly #deploymentId: string
  readonly #options: BackupOptions
  readonly #copier: Copier
  readonly #added: CopiedPayloads = { files: new Map(), volumes: new Map() }

  constructor(
    disk: Disk,
    store: StorePaths,
    backup: StorePaths,
    contents: BackupContents,
    deploymentId: string,
    options: BackupOptions,
  ) {
    this.#disk = disk
    this.#store = store
    this.#backup = backup
    this.#contents = contents
    this.#deploymentId = deploymentId
    this.#options = options
    this.#copier = new Copier(disk, options.bytesPerSecond, () => {
      options.progress(`${(this.#copier.bytes / 1024 ** 2).toFixed(1)} MiB copied`)
    })
  }

  async run(): Promise<BackupReport> {
    const last = this.#contents.runs.at(-1)
    if (last !== undefined) requireSameHistory(this.#disk, this.#store, last.point, this.#backup.root)
    const work = join(this.#backup.root, 'work')
    const cache = join(this.#backup.root, 'cache')
    const state = await this.#takeState(work, cache)
    let copied: Awaited<ReturnType<BackupMaking['round']>>
    let pruned: PruneReport | undefined
    try {
      copied = await this.#rounds(state, last?.point)
      const made = rfc3339(systemClock())
      const run = { number: (last?.number ?? 0) + 1, made, point: copied.point, deploymentId: this.#deploymentId }
      writeManifest(
        this.#disk,
        this.#backup.root,
        { ...run, previous: this.#contents.lastDigest },
        { ...this.#added, missing: copied.missing },
      )
      if (this.#options.prune)
        pruned = pruneBackup(this.#disk, this.#backup, state, this.#contents, run, copied.missing)
    } catch (error) {
      await state.close()
      throw error
    }
    await state.keep(cache)
    const { sequence } = copied.point
    return {
      run: (last?.number ?? 0) + 1,
      point: copied.point,
      deploymentId: this.#deploymentId,
      records: copied.point.sequence - (last?.point.sequence ?? -1),
      files: this.#added.files.size,
      volumes: this.#added.volumes.size,
      bytes: this.#copier.bytes,
      missing: copied.missing,
      pruned,
      unnoted: this.#note({
        atMilliseconds: systemMilliseconds(),
        sequence,
        directory: this.#backup.root,
        missing: copied.missing.length,
      }),
    }
  }

  /** Leaves a note of the backup in the store. The backup is whole without it: a full disk must not end it. */
  #note(backup: NotedBackup): string | undefined {
    try {
      new BackupNote(this.#disk, this.#store, this.#deploymentId).keep(backup)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  /** The state of the previous run spares reading the whole journal again; it is not part of the backup. */
  #takeState(work: string, cache: string): Promise<PayloadState> {
    this.#disk.removeTree(work)
    if (this.#disk.exists(cache)) this.#disk.rename(cache, work)
    return PayloadState.reopen(this.#disk, this.#backup, work, this.#contents.runs.at(-1)?.point)
  }

  /** A payload that was removed in spite of the hold is not needed at a later point; one still needed there is lost. */
  async #rounds(state: PayloadState, before: JournalPoint | undefined): ReturnType<BackupMaking['round']> {
    let copied = await this.round(state, before)
    for (let round = 1; round < ROUNDS_MAXIMUM && copied.missing.length > 0; round += 1) {
      copied = await this.round(state, copied.point)
    }
    return copied
  }

  async round(
    state: PayloadState,
    before: JournalPoint | undefined,
  ): Promise<{ readonly point: JournalPoint; readonly missing: readonly string[] }> {
    const { progress } = this.#options
    const point = await durableEnd(this.#disk, this.#store)
    await copyJournal(this.#disk, this.#store, this.#backup, before, point, this.#copier)
    state.advance(point.sequence, (records) => progress(`${records.toLocaleString('en')} records read`))
    if (state.sequence !== point.sequence) {
      throw new ExitError('storeDamaged', `the copy of the journal ends at ${state.sequence}, not at ${point.sequence}`)
    }
    const { added, missing } = await copyPayloads(
      this.#disk,
      this.#store,
      this.#backup,
      state,
      this.#contents,
      this.#copier,
    )
    for (const [name, stored] of added.files) this.#added.files.set(name, stored)
    for (const [volume, bytes] of added.volumes) this.#added.volumes.set(volume, bytes)
    return { point, missing }
  }
}

function requireStore(disk: Disk, store: StorePaths): void {
  if (disk.exists(store.backupMark)) throw new ExitError('usage', `${store.root} is itself a backup`)
  if (!disk.exists(store.journal)) throw new ExitError('notFound', `there is no journal in ${store.root}`)
}

function deploymentOf(disk: Disk, store: StorePaths): string {
  return Buffer.from(decodeGenesis(readGenesis(disk, store)).deploymentId).toString('hex')
}

/**
 * Opens the directory of a backup: a new or empty directory, or an existing backup.
 * @throws ExitError
 */
function openBackup(disk: Disk, store: StorePaths, directory: string): StorePaths {
  const backup = new StorePaths(resolve(directory))
  if (`${backup.root}${sep}`.startsWith(`${resolve(store.root)}${sep}`)) {
    throw new ExitError('usage', `a backup of ${store.root} cannot be inside it`)
  }
  requireOurs(disk, backup)
  for (const { journal } of [store, backup]) requireKnownFormat(disk, journal)
  disk.makeDirectory(backup.root)
  return backup
}

function requireOurs(disk: Disk, backup: StorePaths): void {
  if (disk.exists(backup.backupMark)) return
  const others = disk.list(backup.root).filter((name) => join(backup.root, name) !== backup.lock)
  if (others.length === 0) return
  throw new ExitError('usage', `${backup.root} is not empty and is not a backup; give a new directory`)
}

/** No server starts on a directory that has the mark. */
function markBackup(disk: Disk, backup: StorePaths): void {
  requireOurs(disk, backup)
  if (disk.exists(backup.backupMark)) return
  const mark = disk.create(backup.backupMark)
  try {
    mark.writeAt(Buffer.from('A backup of an object store. See "object-store restore --help".\n'), 0)
    mark.sync()
  } finally {
    mark.close()
  }
  disk.syncDirectory(backup.root)
}
