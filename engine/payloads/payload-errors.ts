/** Stored bytes are damaged: a block does not match its checksum, or is missing (J17). */
export class PayloadDamagedError extends Error {
  override readonly name = 'PayloadDamagedError'
  /** The object that a request read, where that is known. */
  object: { readonly bucket: string; readonly key: string; readonly sequence: number } | undefined
}
