import { Backoff, REMOTE_BACKOFF } from '../../engine/shares/backoff.ts'
import type { Milliseconds } from '../../engine/brands.ts'
import type { SigningKey } from '../../engine/keys/signing-key.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { checkpointNote, checkpointText } from '../../engine/checkpoints/checkpoint-note.ts'
import type { Cosignature } from '../../engine/checkpoints/cosignature.ts'
import { EMPTY_ROOT } from '../../engine/checkpoints/tree-hashing.ts'
import type { PolicyWitness } from '../../engine/checkpoints/witness-policy.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import { askWitness, type WitnessAnswer, WitnessError } from './ask-witness.ts'
import { timedPost } from './bounded-post.ts'
import type { Seen } from './outside-memory.ts'

interface LineOptions {
  /** The current key of the log. */
  readonly key: () => SigningKey
  readonly timeoutMilliseconds: number
  readonly stop: AbortSignal
  /** What requests go out by; by default sockets. */
  readonly send?: typeof timedPost
  /** The time of day. */
  readonly clock: () => Milliseconds
  /** Milliseconds of a clock that is never set. */
  readonly timer: () => number
  /** The proof that a checkpoint extends the first `old` records, as C2SP tlog-witness has it. */
  readonly consistencyOf: (checkpoint: CheckpointState, old: number) => readonly Uint8Array[]
}

/** The witness has cosigned another history than the journal's. */
export class WitnessContradiction extends Error {
  override readonly name = 'WitnessContradiction'
  readonly seen: Seen

  constructor(message: string, seen: Seen) {
    super(message)
    this.seen = seen
  }
}

/** Clocks may differ by so much. */
const CLOCKS_SECONDS = 600
/** It has seen another root of this size, and does not name it. */
const ANOTHER_ROOT = new Uint8Array(0)

/** One witness: its last cosignature, and the requests to it, one after another. */
export class WitnessLine {
  readonly witness: PolicyWitness
  readonly #options: LineOptions
  readonly backoff: Backoff
  /** Its last cosigned size, as far as this process knows. */
  #known: { readonly origin: string; readonly size: number } | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #failure: unknown

  constructor(witness: PolicyWitness, options: LineOptions) {
    this.witness = witness
    this.#options = options
    this.backoff = new Backoff({ ...REMOTE_BACKOFF, timer: options.timer })
  }

  /** Whether it has answered about this log. */
  hasAnswered(origin: string): boolean {
    return this.#known?.origin === origin
  }

  /** The last failure, or undefined. */
  get failure(): unknown {
    return this.#failure
  }

  /**
   * Returns what it has seen of the log. It is sent the last checkpoint of the journal, or the empty tree, which
   * contradicts nothing: also after a rotation of the key, when it may know the log by the new key alone. While it
   * rests after a failure, that failure is thrown at once.
   */
  seen(origin: string, own: CheckpointState | undefined): Promise<Seen | undefined> {
    return this.#inTurn(async () => {
      if (!this.backoff.isDue) throw this.#failure
      const key = this.#options.key()
      const sent = own !== undefined && key.publicKey.equals(own.publicKey) ? own : undefined
      const size = sent?.size ?? 0
      const note = sent === undefined ? emptyNote(origin, key) : noteOf(sent)
      try {
        const answer = await this.#ask(size, [], note)
        if ('size' in answer && answer.size === size) {
          throw this.#failed(new WitnessError(409, `it says that it has another size than ${size}: ${size}`))
        }
        const cosigned = 'size' in answer ? answer.size : size
        this.#known = { origin, size: cosigned }
        return cosigned === 0 ? undefined : { size: cosigned, root: undefined, origin }
      } catch (error) {
        if (sent === undefined || !isOtherTree(error)) throw error
        return { size, root: ANOTHER_ROOT, origin }
      }
    })
  }

  /**
   * Has it cosign a checkpoint.
   * @throws WitnessContradiction when it has seen more than `newest`, or another tree; WitnessError; the error of the connection
   */
  cosign(checkpoint: CheckpointState, newest: () => CheckpointState | undefined): Promise<Cosignature | undefined> {
    return this.#inTurn(async () => {
      const { origin, size } = checkpoint
      let old = this.#known?.origin === origin ? Math.min(this.#known.size, size) : size
      for (let retries = 0; ; retries += 1) {
        const answer = await this.#cosign(checkpoint, old)
        if ('cosignature' in answer) {
          this.#known = { origin, size }
          return this.#timely(checkpoint, answer.cosignature)
        }
        this.#known = { origin, size: answer.size }
        if (answer.size > (newest()?.size ?? 0)) {
          throw new WitnessContradiction(`it has cosigned ${answer.size} records`, { ...this.#known, root: undefined })
        }
        // It has seen a later checkpoint meanwhile: there is nothing left to ask about this one.
        if (answer.size > size) return undefined
        if (retries > 0)
          throw this.#failed(new WitnessError(409, `it says twice that it has another size: ${answer.size}`))
        old = answer.size
      }
    })
  }

  async #cosign(checkpoint: CheckpointState, old: number): Promise<WitnessAnswer> {
    try {
      return await this.#ask(old, this.#options.consistencyOf(checkpoint, old), noteOf(checkpoint))
    } catch (error) {
      if (!isOtherTree(error)) throw error
      const seen = { size: old, root: ANOTHER_ROOT, origin: checkpoint.origin }
      throw new WitnessContradiction((error as Error).message, seen)
    }
  }

  async #ask(old: number, path: readonly Uint8Array[], note: string): Promise<WitnessAnswer> {
    const { timeoutMilliseconds, stop, send = timedPost } = this.#options
    try {
      const answer = await askWitness(this.witness, { old, path, note }, { timeoutMilliseconds, stop, send })
      this.backoff.succeeded()
      this.#failure = undefined
      return answer
    } catch (error) {
      throw stop.aborted ? error : this.#failed(error)
    }
  }

  #failed<T>(error: T): T {
    this.backoff.failed(error instanceof WitnessError && error.isLasting)
    this.#failure = error
    return error
  }

  /** Refuses a time before the checkpoint or in the future, which would mislead verifiers. */
  #timely({ timeMicroseconds }: CheckpointState, cosignature: Cosignature): Cosignature {
    const [earliest, latest] = [timeMicroseconds / 1_000_000, this.#options.clock() / 1000]
    if (cosignature.seconds < earliest - CLOCKS_SECONDS || cosignature.seconds > latest + CLOCKS_SECONDS) {
      const message = `its cosignature has the time ${cosignature.seconds}, and the clock here says ${Math.floor(latest)}`
      throw this.#failed(new WitnessError(200, message))
    }
    return cosignature
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const own = this.#turn.then(work)
    this.#turn = own.catch(() => undefined)
    return own
  }
}

function emptyNote(origin: string, key: SigningKey): string {
  const statement = { origin, size: 0, root: EMPTY_ROOT }
  return checkpointNote(statement, key.publicKey, key.sign(checkpointText(statement)))
}

function isOtherTree(error: unknown): boolean {
  return error instanceof WitnessError && error.status === 422
}
