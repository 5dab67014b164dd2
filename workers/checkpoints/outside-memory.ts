/**
 * What others remember of a log. A data directory that was copied back, or a snapshot of a machine, knows nothing of
 * what the store signed after it: only an outside party knows that (spec/decisions/0158-receipts-and-witnesses.md).
 */
import type { CheckpointState } from '../../engine/checkpoints/state.ts'

/** The farthest size of a log that an outside party has seen. */
export interface Seen {
  readonly size: number
  /** 32 bytes; undefined where only the size is known. */
  readonly root: Uint8Array | undefined
  /** The log whose checkpoint it was; undefined: the log of the question. */
  readonly origin?: string
}

/** An outside party that remembers how far the log of an origin was signed. */
export interface OutsideMemory {
  /** For messages: "witness NAME", "lock s3://...". */
  readonly name: string
  /** Whether nothing may be signed while it cannot be asked. */
  readonly isRequired: boolean
  /**
   * Asked before the first signature of a process, and after a conflict.
   * @param own the last checkpoint that this journal signed under the origin
   * @returns undefined if it has not seen the origin
   * @throws where it cannot be asked
   */
  seen(origin: string, own: CheckpointState | undefined): Promise<Seen | undefined>
}

interface MemoryOptions {
  readonly memories: readonly OutsideMemory[]
  /** A memory that is not required could not be asked. It is asked again before the next signature. */
  readonly onUnasked: (memory: string, error: unknown) => void
}

/**
 * An outside party has seen more of the log than the journal has, or something else. Signing ends until the operator
 * acts.
 */
export class CheckpointRollbackError extends Error {
  override readonly name = 'CheckpointRollbackError'
  /** How the status, the log and the pages call it. */
  readonly code = 'CHECKPOINT_ROLLBACK'
}

/** Nothing is signed while a memory that is required cannot be asked. */
class MemoryUnavailableError extends Error {
  override readonly name = 'MemoryUnavailableError'
}

/** Asks every memory once before a process signs, and again after a report of another history. */
export class OutsideMemories {
  readonly #options: MemoryOptions
  #unasked: Set<OutsideMemory>
  #origin: string | undefined

  constructor(options: MemoryOptions) {
    this.#options = options
    this.#unasked = new Set(options.memories)
  }

  /**
   * @param own the last checkpoint of the journal under this origin
   * @param ofSize a checkpoint of the journal
   * @throws CheckpointRollbackError, and an error where a required memory does not answer
   */
  async ask(
    origin: string,
    own: CheckpointState | undefined,
    ofSize: (size: number) => CheckpointState | undefined,
  ): Promise<void> {
    if (origin !== this.#origin) this.#unasked = new Set(this.#options.memories)
    this.#origin = origin
    for (const memory of this.#unasked) {
      let seen: Seen | undefined
      try {
        seen = await memory.seen(origin, own)
      } catch (error) {
        if (!memory.isRequired) {
          this.#options.onUnasked(memory.name, error)
          continue
        }
        const reason = (error as Error).message
        throw new MemoryUnavailableError(`${memory.name} cannot be asked: ${reason}`, { cause: error })
      }
      if (seen !== undefined) requireKnown(memory.name, seen, origin, own, ofSize)
      this.#unasked.delete(memory)
    }
  }
}

/**
 * Checks that what was seen is a checkpoint of this journal, or, if only its size is known, could be one.
 * @throws CheckpointRollbackError
 */
function requireKnown(
  by: string,
  seen: Seen,
  origin: string,
  own: CheckpointState | undefined,
  ofSize: (size: number) => CheckpointState | undefined,
): void {
  const log = seen.origin ?? origin
  if (seen.size > (own?.size ?? 0) || log !== origin) throw rolledBack(by, seen, log, own)
  if (seen.root === undefined) return
  const had = ofSize(seen.size)
  if (had !== undefined && had.origin === log && Buffer.compare(had.root, seen.root) === 0) return
  throw new CheckpointRollbackError(
    `${by} has seen another checkpoint of ${seen.size} records of ${log} than the journal has: the log was forked${WAY_OUT}`,
  )
}

/** The error of a journal that is behind its own signatures. */
export function rolledBack(
  by: string,
  { size }: Pick<Seen, 'size'>,
  origin: string,
  own: Pick<CheckpointState, 'size'> | undefined,
): CheckpointRollbackError {
  return new CheckpointRollbackError(
    `${by} has seen a checkpoint of ${size} records of ${origin}, and the last one of the journal has ${own?.size ?? 0}: the data directory was rolled back${WAY_OUT}`,
  )
}

const WAY_OUT = '. Nothing is signed until the newer data is put back or a new log is declared'
