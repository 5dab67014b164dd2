import type { DiskFullError, ShortWriteError } from '../../engine/disk/disk.ts'
import { type ReadOnlyFileSystemError, readOnlyOf } from '../../engine/disk/read-only.ts'
import type { StoreLockedError } from '../../engine/disk/store-lock.ts'
import type { ProjectionFailedError } from '../../engine/loop/engine.ts'
import type {
  AcknowledgedDataLostError,
  JournalDamagedError,
  JournalPoisonedError,
} from '../../engine/journal/journal-errors.ts'
import type { NewerFormatError, StoreUnreleasedError } from '../../engine/errors.ts'
import type { FormError } from '../../engine/events/schema/kinds.ts'
import type { MasterKeyMismatchError } from '../../engine/keys/master-key-id.ts'
import type { AccessForgedError } from '../../engine/access/access-authentication.ts'
import type { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import type { VolumeFailedError } from '../../engine/payloads/volume-writer.ts'
import type { ProjectionsNewerError } from '../../projections/tables/applied.ts'
import { ExitError, type ExitName } from '../exit-codes.ts'
import type { NotAStoreError } from './store/whole-directory.ts'
import { EngineThreadError } from './threads/engine-thread-handle.ts'

/** Failures of the store with an exit code of their own. */
type StoreFailure =
  | JournalPoisonedError
  | VolumeFailedError
  | ReadOnlyFileSystemError
  | JournalDamagedError
  | PayloadDamagedError
  | AcknowledgedDataLostError
  | MasterKeyMismatchError
  | AccessForgedError
  | FormError
  | NewerFormatError
  | StoreUnreleasedError
  | ProjectionFailedError
  | ProjectionsNewerError
  | StoreLockedError
  | NotAStoreError
  | DiskFullError
  | ShortWriteError

/**
 * Exit codes by the names of error classes, since errors cross threads as names. The type checks the names against the
 * classes without loading them.
 */
export const EXIT_BY_ERROR: Readonly<Record<StoreFailure['name'], ExitName>> = {
  JournalPoisonedError: 'journalFailed',
  VolumeFailedError: 'journalFailed',
  ReadOnlyFileSystemError: 'journalFailed',
  JournalDamagedError: 'storeDamaged',
  PayloadDamagedError: 'storeDamaged',
  AcknowledgedDataLostError: 'dataLost',
  FormError: 'storeDamaged',
  NewerFormatError: 'newerFormat',
  StoreUnreleasedError: 'storeUnreleased',
  AccessForgedError: 'storeDamaged',
  MasterKeyMismatchError: 'masterKey',
  // The next start replays; of newer projections none does.
  ProjectionFailedError: 'journalFailed',
  ProjectionsNewerError: 'projectionsFailed',
  StoreLockedError: 'directoryLocked',
  NotAStoreError: 'usage',
  DiskFullError: 'diskFull',
  // A short write means that the disk is full; the next byte would have failed with ENOSPC.
  ShortWriteError: 'diskFull',
}

/** Undefined if the error is not a failure of the store. */
export function exitOfStoreError(errorName: string): ExitName | undefined {
  return Object.hasOwn(EXIT_BY_ERROR, errorName) ? EXIT_BY_ERROR[errorName as StoreFailure['name']] : undefined
}

export function exitOfError(errorName: string): ExitName {
  return exitOfStoreError(errorName) ?? 'failed'
}

/** Whether the engine thread did not start because the master key is of another store. */
export function isOfOtherKey({ cause }: ExitError): boolean {
  const name: MasterKeyMismatchError['name'] = 'MasterKeyMismatchError'
  return cause instanceof EngineThreadError && cause.errorName === name
}

/** Gives a failure of the store its exit code. */
export async function withExitCode<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const error = readOnlyOf(thrown) ?? (thrown as Error)
    const name = error instanceof EngineThreadError ? error.errorName : error.name
    throw new ExitError(exitOfError(name), error.message, { cause: error })
  }
}
