import { lstatSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import { requireKnownFormat } from '../../engine/journal/known-format.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { previous } from '../../engine/brands.ts'
import { scanOneSegment } from '../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { fileBytes } from '../../engine/payloads/file-format.ts'
import type { PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import { ExitError } from '../exit-codes.ts'
import { cutAt } from './cut-disk.ts'
import { type BackupContents, type BackupRun, readManifests } from './manifest.ts'
import type { PayloadState } from './payload-state.ts'

/** A backup whose manifests are right, and the disk to read it with: regular files alone. */
export interface ExistingBackup {
  readonly disk: Disk
  readonly backup: StorePaths
  readonly contents: BackupContents
  /** The newest run. */
  readonly last: BackupRun
}

/**
 * What `backup verify` and `restore` check of a backup before anything else: they share the check, so neither takes
 * what the other refuses.
 * @throws ExitError `notFound` when there is no backup, or no whole one; `storeDamaged` when a manifest is not as
 *   described
 */
export function existingBackup(disk: Disk, directory: string): ExistingBackup {
  const backup = new StorePaths(resolve(directory))
  if (!disk.exists(backup.backupMark)) throw new ExitError('notFound', `there is no backup in ${backup.root}`)
  requireRegularJournal(backup)
  requireKnownFormat(disk, backup.journal)
  const regular = regularFilesOf(disk)
  const contents = readManifests(regular, backup.root)
  const last = contents.runs.at(-1)
  if (last === undefined) throw new ExitError('notFound', `no backup into ${backup.root} was ever finished`)
  return { disk: regular, backup, contents, last }
}

/**
 * The newest point must be a record of the journal in the backup, at the place and with the hash that its manifest
 * states.
 * @throws ExitError `storeDamaged`, and JournalDamagedError for a segment without a header
 */
export function requirePoint({ disk, backup, contents, last: { number, point } }: ExistingBackup): void {
  const refuse = (what: string): never => {
    throw new ExitError('storeDamaged', `${backup.root}: the point of manifest ${number} does not hold: ${what}`)
  }
  const cut = cutAt(disk, backup, point)
  if (!segmentFirsts(cut, backup).includes(point.segment)) refuse(`there is no ${backup.segment(point.segment)}`)
  let found: string | undefined
  const { header, chain, end } = scanOneSegment(cut, backup, point.segment, {
    record: ({ sequence, hash }) => {
      if (sequence === point.sequence) found = hash.toString('hex')
    },
  })
  const id = Buffer.from(header.deploymentId).toString('hex')
  if (id !== contents.deploymentId) refuse(`the journal is of store ${id}, the manifests of ${contents.deploymentId}`)
  const ends = previous(chain.nextSequence)
  if (
    found === undefined ||
    ends !== point.sequence ||
    (point.offset === null ? end.end !== 'sealed' : end.offset !== point.offset)
  ) {
    refuse(`the journal ends with record ${ends} there, and not with ${point.sequence}`)
  }
  if (found !== point.hash) refuse(`record ${point.sequence} has the hash ${found}, and not ${point.hash}`)
  if (chain.nextBatch - 1 !== point.batch) refuse(`record ${point.sequence} is of batch ${chain.nextBatch - 1}`)
}

/** Payloads that a state refers to and no manifest lists: the store removed them before the backup copied them. */
export function absentPayloads(state: PayloadState, { files, volumes }: BackupContents): string[] {
  const has = (location: PayloadLocation): boolean => {
    if (location.kind === 'volume') return location.offset + location.length <= (volumes.get(location.volume) ?? 0)
    if (location.kind === 'parts') return true
    return files.get(location.name)?.bytes === fileBytes(location.sealed ? 'sealed' : 'plain', location.length)
  }
  const losses: string[] = []
  for (const { payload, location } of state.payloads()) {
    if (!has(location)) losses.push(`payload ${payload}, ${location.length} bytes, is not in the backup`)
  }
  return losses
}

/**
 * A disk that opens regular files for reading and nothing else: the backup is not trusted, and a pipe would block, a
 * device be read and a link be followed.
 */
function regularFilesOf(disk: Disk): Disk {
  return {
    ...disk,
    openToRead: (path) => {
      requireRegular(path)
      return disk.openToRead(path)
    },
    openToReadAsync: (path) => {
      requireRegular(path)
      return disk.openToReadAsync(path)
    },
  }
}

/**
 * Checks the files that are opened without a `Disk`: the journal, whose verifier opens it by itself. @throws ExitError
 * `storeDamaged`
 */
function requireRegularJournal({ root, journal }: StorePaths): void {
  for (const directory of [journal, join(root, 'manifests')]) {
    const found = lstatSync(directory, { throwIfNoEntry: false })
    if (found === undefined) continue
    if (!found.isDirectory()) throw new ExitError('storeDamaged', `${directory} is not a directory`)
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (!entry.isFile() && !entry.isDirectory()) requireRegular(join(directory, entry.name))
    }
  }
}

/** A file that is not there is for the disk to report. @throws ExitError `storeDamaged` */
function requireRegular(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) {
    throw new ExitError('storeDamaged', `${path} is not a regular file; a backup has nothing else`)
  }
}
