/** Stored bytes are damaged: a block does not match its checksum, or is missing (J17). */
export class PayloadDamagedError extends Error {
  override readonly name = 'PayloadDamagedError'
}
