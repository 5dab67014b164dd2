/** A lock's record of a log. */
interface Held {
  readonly text: string
  /** Changes with the text; the condition of a write. */
  readonly tag: string
}

/** A place outside of the data directory that holds the last checkpoint of each log. */
export interface LockPlace {
  /** As the setting has it. */
  readonly name: string
  /** @returns undefined for a place without a record of the log */
  read(log: string, signal: AbortSignal): Promise<Held | undefined>
  /**
   * Writes the log's last signed state, durably.
   * @param tag of the last read; undefined: only if nothing is there
   * @returns the new tag; undefined if another process wrote since
   */
  write(log: string, text: string, tag: string | undefined, signal: AbortSignal): Promise<string | undefined>
}

/** A lock cannot be used: it does not answer, or its content is not a checkpoint of this log. */
export class LockError extends Error {
  override readonly name = 'LockError'
}

/** A checkpoint has a few hundred bytes; its log may have had witnesses sign it. */
export const LOCK_BYTES_MAXIMUM = 64 * 1024
