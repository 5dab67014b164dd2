/** The journal is damaged, so the store is not opened for writing. The message has segment, offset and sequence. */
export class JournalDamagedError extends Error {
  override readonly name = 'JournalDamagedError'
}

/** The journal ends before entries that are known to have been acknowledged. */
export class AcknowledgedDataLostError extends Error {
  override readonly name = 'AcknowledgedDataLostError'
}

/** A write or sync of the journal failed: its outcome is unknown, and nothing is acknowledged any more (J7). */
export class JournalPoisonedError extends Error {
  override readonly name = 'JournalPoisonedError'
}
