/** A lock's record of a log. */
interface Held {
  readonly text: string
  /** Changes with the text; what a write is made conditional on. */
  readonly tag: string
}

/** A place outside of the data directory that holds the last checkpoint of each log. */
export interface LockPlace {
  /** As the setting has it. */
  readonly name: string
  /** @returns undefined where it holds nothing of the log */
  read(log: string, signal: AbortSignal): Promise<Held | undefined>
  /**
   * Writes what the log has signed, durably.
   * @param tag of what was read; undefined: only if nothing is there
   * @returns the tag of what was written; undefined if another process wrote since
   */
  write(log: string, text: string, tag: string | undefined, signal: AbortSignal): Promise<string | undefined>
}

/** A lock cannot be used: it does not answer, or what it holds is not a checkpoint of this log. */
export class LockError extends Error {
  override readonly name = 'LockError'
}

/** A checkpoint has a few hundred bytes; its log may have had witnesses sign it. */
export const LOCK_BYTES_MAXIMUM = 64 * 1024
