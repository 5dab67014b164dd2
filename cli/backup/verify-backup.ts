import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { type VerificationReport, verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { ExitError } from '../exit-codes.ts'
import { cutAt } from './cut-disk.ts'
import { absentPayloads, type ExistingBackup, existingBackup, requirePoint } from './checked-backup.ts'
import { type BackupRun, manifestNumbers } from './manifest.ts'
import { checkPayloads, type PayloadReport } from './payload-check.ts'
import { PayloadState } from './payload-state.ts'

export interface BackupVerification {
  readonly deploymentId: string
  readonly runs: readonly BackupRun[]
  readonly journal: VerificationReport
  /** Undefined when the journal is damaged: then it is unknown what it refers to. */
  readonly payloads: PayloadReport | undefined
}

/** Options of the verification of a backup. */
interface VerifyOptions {
  /** Threads that verify the journal. */
  readonly threads: number
  readonly masterKey?: Uint8Array
  readonly progress: (text: string) => void
}

/**
 * Proves a backup from its files alone: its manifests, every record of its journal by the verifier that shares no code
 * with the writer, and every payload that the journal refers to at the newest point.
 * @throws ExitError, and the errors of the disk
 */
export async function verifyBackup(disk: Disk, directory: string, options: VerifyOptions): Promise<BackupVerification> {
  const existing = existingBackup(disk, directory)
  const { disk: source, backup, contents, last } = existing
  const { runs, deploymentId, files } = contents
  const { threads, masterKey, progress } = options
  const journal = await verifyJournal(backup.journal, {
    threads,
    ...(masterKey && { masterKey }),
    onProgress: ({ records }) => progress(`${records.toLocaleString('en')} records verified`),
  })
  // For a damaged journal the report is more useful than a refusal. Records of a newer version are not damage.
  const isSound = journal.problemCount === 0
  if (isSound) requireKnownUntil(journal, existing)
  if (isSound) requirePoint(existing)
  const payloads = isSound
    ? await withState(disk, (directoryOfState) => {
        const cut = cutAt(source, backup, last.point)
        const state = PayloadState.open(cut, backup, directoryOfState)
        const check = (): PayloadReport => {
          state.advance(last.point.sequence)
          const report = checkPayloads(
            source,
            { disk: cut, paths: backup, until: last.point.sequence },
            backup,
            state,
            files,
            (bytes) => progress(`${(bytes / 1024 ** 2).toFixed(1)} MiB of payloads verified`),
          )
          // Files that no manifest lists are not part of the backup, whatever they hold.
          const absent = report.problems.length > 0 ? [] : absentPayloads(state, contents)
          return { ...report, problems: [...report.problems, ...absent] }
        }
        return { state, check }
      })
    : undefined
  requireSameRuns(disk, backup, runs)
  return { deploymentId, runs, journal, payloads }
}

/**
 * What a newer version wrote up to the point may refer to payloads, or remove them. After the point it is not part of the backup.
 * @throws ExitError `newerFormat`
 */
function requireKnownUntil(
  { newer }: Pick<VerificationReport, 'newer'>,
  { backup, last: { point } }: Pick<ExistingBackup, 'backup' | 'last'>,
): void {
  const unknown = newer.find(({ sequence }) => sequence <= point.sequence)
  if (unknown === undefined) return
  const { sequence, what } = unknown
  throw new ExitError(
    'newerFormat',
    `${backup.root}: record ${sequence} is of a kind that only a newer version knows, ${what}: verify the backup with that version`,
  )
}

/** Works with a state in a temporary directory, which is removed. */
async function withState(
  disk: Disk,
  open: (directory: string) => { readonly state: PayloadState; readonly check: () => PayloadReport },
): Promise<PayloadReport> {
  const directory = join(tmpdir(), `object-store-verify-${randomBytes(8).toString('hex')}`)
  try {
    const { state, check } = open(directory)
    try {
      return check()
    } finally {
      await state.close()
    }
  } finally {
    disk.removeTree(directory)
  }
}

/** A backup that was pruned meanwhile lacks files that the verification expects. */
function requireSameRuns(disk: Disk, backup: StorePaths, runs: readonly BackupRun[]): void {
  const numbers = manifestNumbers(disk, backup.root)
  if (runs.every(({ number }) => numbers.includes(number))) return
  throw new ExitError('failed', `${backup.root} was pruned while it was verified; verify it again`)
}
