import type { ExitName } from './exit-codes.ts'

/** Exit codes for failures of the store by the name of the error's class, since errors cross threads as names. */
export const EXIT_BY_ERROR: Readonly<Record<string, ExitName>> = {
  JournalPoisonedError: 'journalFailed',
  VolumeFailedError: 'journalFailed',
  JournalDamagedError: 'storeDamaged',
  PayloadDamagedError: 'storeDamaged',
  AcknowledgedDataLostError: 'dataLost',
  MasterKeyMismatchError: 'masterKey',
  ProjectionFailedError: 'projectionsFailed',
  StoreLockedError: 'directoryLocked',
  DiskFullError: 'diskFull',
  // A write that stops short met the end of the disk; the next byte would have said so.
  ShortWriteError: 'diskFull',
}

export function exitOfError(errorName: string): ExitName {
  return EXIT_BY_ERROR[errorName] ?? 'failed'
}
