import { isUnreadable } from '../disk/unreadable.ts'

/** Stored bytes are damaged: a block does not match its checksum, or is missing (J17). */
export class PayloadDamagedError extends Error {
  override readonly name = 'PayloadDamagedError'
  /** The object that a request read, where that is known. */
  object: { readonly bucket: string; readonly key: string; readonly sequence: number } | undefined
}

/** What a failed read of stored bytes means: bytes that the disk has lost are damage, and other errors do not concern them. */
export function readFailure(place: string, cause: unknown): unknown {
  return isUnreadable(cause) ? new PayloadDamagedError(`${place}: the disk cannot read it`, { cause }) : cause
}
