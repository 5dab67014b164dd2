import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import {
  CheckpointNoteError,
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'
import type { CheckpointReader } from '../../projections/checkpoints/reader.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import { systemAudit } from '../system-audit.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'
import type { OutsideMemory, Seen } from './outside-memory.ts'
import type { PublicationRequirement } from './publish-checkpoints.ts'
import { isOfLog, type OriginParts } from './sign-checkpoints.ts'
import { LockError, type LockPlace } from './lock-place.ts'

interface LockOptions {
  readonly place: LockPlace
  /** Under which the log is signed now: what an earlier one left is not written. */
  readonly origin: OriginParts
  /** Every key that this log can have signed with; 32 bytes each. */
  readonly publicKeys: () => Iterable<Uint8Array>
  readonly timeoutMilliseconds: number
  /** Milliseconds of a clock that is never set. */
  readonly timer: () => number
  readonly onFailure: (error: unknown) => void
  /** The lock holds a checkpoint of this log that the journal does not have. */
  readonly onContradiction: (name: string, seen: Seen) => void
}

/** Content of the lock, checked: a checkpoint that this log has signed. */
interface HeldCheckpoint extends Required<Seen> {
  readonly root: Uint8Array
  readonly tag: string
}

type Reader = Pick<CheckpointReader, 'state' | 'last' | 'signedOfSize' | 'receiptsOf'>

const FIRST_RETRY_MILLISECONDS = 2000
const LONGEST_RETRY_MILLISECONDS = 600_000
/** Of a write, when others write too: two that take turns must not keep each other busy. */
const WRITES_MAXIMUM = 3

/**
 * Writes each checkpoint into a place outside of the data directory before it is published, on condition that the place
 * still holds the checkpoint before (spec/decisions/0158-receipts-and-witnesses.md). While the place is unreachable
 * only checkpoints are held back.
 */
export class CheckpointLock implements BackgroundWorker, OutsideMemory, PublicationRequirement {
  readonly name: string
  readonly isRequired = true
  readonly #engine: Pick<EngineClient, 'execute'>
  readonly #reader: Reader
  readonly #options: LockOptions
  readonly #stop = new AbortController()
  #flight: Promise<void> | undefined
  #failed: unknown
  #isContradicted = false
  #retryAt = Number.NEGATIVE_INFINITY
  /** In a row. */
  #inRow = 0
  #written = 0
  #failures = 0

  constructor(engine: Pick<EngineClient, 'execute'>, reader: Reader, options: LockOptions) {
    this.#engine = engine
    this.#reader = reader
    this.#options = options
    this.name = `lock ${options.place.name}`
  }

  get status(): string {
    return `${this.#written} checkpoints locked, ${this.#failures} attempts failed`
  }

  isMet({ size }: Pick<CheckpointState, 'size'>): boolean {
    const { name } = this.#options.place
    return this.#reader.receiptsOf(size).some(({ kind, giver }) => kind === 'lock' && giver === name)
  }

  /** @throws LockError, or the error of the connection */
  async seen(origin: string, own: CheckpointState | undefined): Promise<Seen | undefined> {
    return this.#read(origin, own)
  }

  async step(): Promise<StepResult> {
    if (this.#failed !== undefined) {
      const error = this.#failed
      this.#failed = undefined
      throw error
    }
    const { last, restored } = this.#reader.state()
    if (last === undefined || !isOfLog(this.#options.origin, last, restored)) return 'idle'
    if (this.#isContradicted || this.#flight !== undefined) return 'idle'
    if (this.isMet(last) || this.#options.timer() < this.#retryAt) return 'idle'
    this.#flight = this.#attempt(last).finally(() => {
      this.#flight = undefined
    })
    return 'idle'
  }

  /** Does not wait: the next start reads the lock. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the server stops'))
    await this.#flight
  }

  /** Never rejects: a failure outside is reported and retried, a failure here ends the next step. */
  async #attempt(checkpoint: CheckpointState): Promise<void> {
    let tag: string | undefined
    try {
      tag = await this.#write(checkpoint)
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failedOnce(error)
      return
    }
    if (tag === undefined) return
    try {
      const { origin, size } = checkpoint
      const receipt = { size, kind: 'lock', giver: this.#options.place.name, receipt: Buffer.from(tag) } as const
      await this.#engine.execute({
        kind: 'record-receipt',
        audit: systemAudit('checkpoints', 'checkpoint.receipt', origin),
        receipt: { ...receipt, assertedMicroseconds: undefined },
      })
      this.#written += 1
      this.#inRow = 0
    } catch (error) {
      this.#failed = error
    }
  }

  /** Returns the tag of the checkpoint in the lock; undefined after a contradiction. */
  async #write(checkpoint: CheckpointState): Promise<string | undefined> {
    const { place } = this.#options
    for (let count = 0; count < WRITES_MAXIMUM; count += 1) {
      const held = await this.#read(checkpoint.origin, checkpoint)
      if (held !== undefined && !this.#isOwn(held)) return this.#contradict(held)
      if (held?.size === checkpoint.size) return held.tag
      const tag = await place.write(checkpoint.origin, noteOf(checkpoint), held?.tag, this.#signal())
      if (tag !== undefined) return tag
    }
    throw new LockError('another process writes to the lock')
  }

  #contradict(held: HeldCheckpoint): undefined {
    this.#isContradicted = true
    this.#options.onContradiction(this.name, held)
  }

  /** Whether the journal has signed it. */
  #isOwn({ origin, size, root }: HeldCheckpoint): boolean {
    const had = this.#reader.signedOfSize(size)
    return had?.origin === origin && Buffer.compare(had.root, root) === 0
  }

  /** @throws LockError also for an empty lock that was written before, by the journal */
  async #read(origin: string, own: CheckpointState | undefined): Promise<HeldCheckpoint | undefined> {
    const held = await this.#options.place.read(origin, this.#signal())
    if (held === undefined) {
      const locked = [own, this.#reader.last()].find((one) => one?.origin === origin && this.isMet(one))
      if (locked === undefined) return undefined
      throw new LockError(`it holds nothing, and the checkpoint of ${locked.size} records was written to it`)
    }
    const note = parsed(held.text)
    if (note.origin !== origin) throw new LockError(`it holds a checkpoint of ${note.origin}, not of ${origin}`)
    const checked = { origin, size: note.size, root: note.root, tag: held.tag }
    if (this.#isOwn(checked)) return checked
    const isSignedWith = (key: Uint8Array) => isSignedBy(note, readVerifierKey(verifierKeyText(origin, key)))
    if (own !== undefined && isSignedWith(own.publicKey)) return checked
    // A journal that was rolled back may not know to which key the log was handed over.
    for (const key of this.#options.publicKeys()) if (isSignedWith(key)) return checked
    throw new LockError('it holds a checkpoint that no key of this store has signed')
  }

  #signal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.#options.timeoutMilliseconds)])
  }

  #failedOnce(error: unknown): void {
    const { timer, onFailure } = this.#options
    this.#failures += 1
    this.#retryAt = timer() + Math.min(LONGEST_RETRY_MILLISECONDS, FIRST_RETRY_MILLISECONDS * 2 ** this.#inRow)
    this.#inRow += 1
    onFailure(error)
  }
}

/** @throws LockError */
function parsed(text: string): ReturnType<typeof readCheckpointNote> {
  try {
    return readCheckpointNote(text)
  } catch (error) {
    if (!(error instanceof CheckpointNoteError)) throw error
    throw new LockError(`it does not hold a checkpoint: ${error.message}`)
  }
}
