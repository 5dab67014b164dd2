/** The journal is not what it must be; the store is not opened for writing. Names segment, offset and sequence. */
export class JournalDamagedError extends Error {
  override readonly name = 'JournalDamagedError'
}

/** The journal ends before entries that are known to have been acknowledged. */
export class AcknowledgedDataLostError extends Error {
  override readonly name = 'AcknowledgedDataLostError'
}

/** A write or sync of the journal failed: its outcome is unknown and nothing more is acknowledged (J7). */
export class JournalPoisonedError extends Error {
  override readonly name = 'JournalPoisonedError'
}
