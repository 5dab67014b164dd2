import type { Milliseconds, Sequence } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CheckpointKeys } from '../../engine/checkpoints/checkpoint-keys.ts'
import { DomainError } from '../../engine/errors.ts'
import { checkpointText } from '../../engine/checkpoints/checkpoint-note.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import type { CheckpointReader } from '../../projections/checkpoints/reader.ts'
import type { SigningFacts } from '../../projections/checkpoints/checkpoint-facts.ts'
import type { MendReport } from '../../projections/checkpoints/mend-trees.ts'
import type { TreeReport, TreeThread } from '../../projections/checkpoints/tree-thread-handle.ts'
import { systemAudit } from '../system-audit.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'
import {
  CheckpointRollbackError,
  OutsideMemories,
  type OutsideMemory,
  rolledBack,
  type Seen,
} from './outside-memory.ts'

interface CheckpointOptions {
  /** Between checkpoints while there are new records; 0: no checkpoints. */
  readonly intervalSeconds: number
  /** After this time there is a checkpoint in any case. */
  readonly heartbeatSeconds: number
  /** Under which name the log is known. */
  readonly origin: OriginParts
  readonly keys: Pick<CheckpointKeys, 'inForce'>
  readonly clock: () => Milliseconds
  /** Whether a checkpoint waits for receipts before it is shown. */
  readonly withholds: () => boolean
  /** Outside parties that remember how far the log was signed. */
  readonly memories: readonly OutsideMemory[]
  /** An optional memory could not be asked. */
  readonly onUnasked: (memory: string, error: unknown) => void
  /** An outside party has seen more of the log than the journal has. Called once; nothing is signed afterwards. */
  readonly onRollback: (error: CheckpointRollbackError) => void
  readonly onSigned: (checkpoint: { readonly size: number; readonly origin: string }) => void
  /** The trees differed from the journal. */
  readonly onDiscarded: (reason: string) => void
  /** The trees were compared with the journal, since a reader had met damage, or differed from it. */
  readonly onMended: (report: MendReport) => void
}

/** Parts of the origin of a log. */
export interface OriginParts {
  /** The setting. */
  readonly name: string
  /** In hexadecimal. */
  readonly deploymentId: string
}

const ZEROS = new Uint8Array(32)
/** Bytes of the restore entry's hash: enough to distinguish two restores of one backup. */
const RESTORE_BYTES = 8

/** The journal on the disk contradicts an earlier signature. Nothing is signed any more; everything else continues. */
class CheckpointForkError extends Error {
  override readonly name = 'CheckpointForkError'
}

/**
 * The name of the log: setting, deployment, and, after a restore from a backup, the restore. The journal then continues
 * from an earlier record, and the origin before it may have signed another history (T3).
 */
function originOf({ name, deploymentId }: OriginParts, restore: Uint8Array | undefined): string {
  const log = `${name}/${deploymentId}`
  return restore === undefined ? log : `${log}/${Buffer.from(restore).toString('hex', 0, RESTORE_BYTES)}`
}

/** Whether a checkpoint was signed under the present name of the log. */
export function isOfLog(
  { name, deploymentId }: OriginParts,
  { origin, sequence }: Pick<CheckpointState, 'origin' | 'sequence'>,
  restored: Sequence | undefined,
): boolean {
  const log = `${name}/${deploymentId}`
  return (origin === log || origin.startsWith(`${log}/`)) && (restored === undefined || restored < sequence)
}

/** Whether there are records after a checkpoint that are not about checkpoints. */
function isNewAfter(last: CheckpointState, quiet: Sequence | undefined, end: Sequence): boolean {
  return end > (quiet ?? last.sequence)
}

/** Keeps the trees up to the journal, and signs their roots (spec/decisions/0147-checkpoints.md). */
export class CheckpointSigning implements BackgroundWorker {
  readonly name = 'checkpoints'
  readonly #engine: EngineClient
  readonly #reader: CheckpointReader
  readonly #thread: Pick<TreeThread, 'ask' | 'close'>
  readonly #options: CheckpointOptions
  #treeSize: number | undefined
  #signed = 0
  #refusal: string | undefined
  readonly #memories: OutsideMemories
  #rollback: CheckpointRollbackError | undefined
  /**
   * `routine`: nothing says that they are damaged. `vain`: a comparison that a reader asked for found no difference, or could not be
   * made; it is not made again and again. A routine comparison that could not be made is made again with the next scrub.
   */
  #mending: 'wanted' | 'routine' | 'vain' | undefined
  #mendedHashes = 0
  /** Checkpoints in a row that no new record was the reason for. */
  #followUps = 0

  constructor(
    engine: EngineClient,
    reader: CheckpointReader,
    thread: Pick<TreeThread, 'ask' | 'close'>,
    options: CheckpointOptions,
  ) {
    this.#engine = engine
    this.#reader = reader
    this.#thread = thread
    this.#options = options
    this.#memories = new OutsideMemories(options)
  }

  get status(): string {
    return `${this.#signed} checkpoints signed`
  }

  get facts(): SigningFacts {
    const isOn = this.#options.intervalSeconds > 0
    const refusal = this.#rollback?.message ?? this.#refusal
    const refusalCode = this.#rollback?.code
    const [treeSize, signed, mendedHashes] = [this.#treeSize, this.#signed, this.#mendedHashes]
    return { isOn, treeSize, signed, refusal, refusalCode, mendedHashes }
  }

  /**
   * A reader met damaged trees, or trees that no longer cover a checkpoint of this size. They are compared with the journal,
   * and what differs is written again.
   */
  mend(size: number): void {
    if ((this.#treeSize ?? 0) < size || this.#mending === 'vain') return
    this.#mending = 'wanted'
  }

  /** The trees are compared with the journal, although no reader met damage. */
  compare(): void {
    this.#mending ??= 'routine'
  }

  get #mends(): boolean {
    return this.#mending === 'wanted' || this.#mending === 'routine'
  }

  /** Grows the trees by a piece; signs their roots when a checkpoint is due and they have reached the end. */
  async step(): Promise<StepResult> {
    if (this.#options.intervalSeconds === 0) return 'done'
    const state = this.#reader.state()
    const { applied, last, restored } = state
    if (applied === undefined) return 'idle'
    const isDue = this.#rollback === undefined && this.#isDue(state, applied.sequence)
    try {
      const wanted = [last?.sequence, restored].flatMap((sequence) => sequence ?? [])
      const { segmentFirstSequence, offset, head } = applied
      const limit = { segmentFirstSequence, offset, head }
      const mends = this.#mends
      const report = await this.#thread.ask({ limit, isDue, previous: last, wanted, mends })
      this.#treeSize = report.size
      if (report.discarded !== undefined) this.#options.onDiscarded(report.discarded)
      if (report.mended !== undefined) this.#endMending(report.mended)
      if (!report.isAtLimit) return 'more'
      if (report.due !== undefined) await this.#sign(report.due, last, restored)
      return this.#mends ? 'more' : 'idle'
    } catch (error) {
      // The key was rotated since it signed: the next step has the new one.
      if (error instanceof DomainError && error.code === 'checkpoint-key-changed') return 'idle'
      this.#refusal = error instanceof Error ? error.message : String(error)
      if (!(error instanceof CheckpointRollbackError)) throw error
      this.#endSigning(error)
      return 'idle'
    }
  }

  /** An outside party saw another history than the journal's: this process signs no more. */
  contradicted(seenBy: string, seen: Seen): void {
    const { last, restored } = this.#reader.state()
    // About a log that ended: another name, or a restore.
    if (last !== undefined && !isOfLog(this.#options.origin, last, restored)) return
    this.#endSigning(rolledBack(seenBy, seen, seen.origin ?? last?.origin ?? this.#options.origin.name, last))
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #endMending(report: MendReport): void {
    const wasRoutine = this.#mending === 'routine'
    const isVain = report.hashes === 0 || report.failure !== undefined
    this.#mending = isVain && !wasRoutine ? 'vain' : undefined
    if (wasRoutine && report.hashes === 0 && report.failure === undefined) return
    this.#mendedHashes += report.hashes
    this.#options.onMended(report)
  }

  #endSigning(error: CheckpointRollbackError): void {
    if (this.#rollback !== undefined) return
    this.#rollback = error
    this.#options.onRollback(error)
  }

  /**
   * A clock that was set back must not keep checkpoints waiting. Entries about checkpoints do not cause another:
   * otherwise two stores that witness each other would never rest. While one is withheld, there is no other.
   */
  #isDue({ last, withheld, quiet, restored }: ReturnType<CheckpointReader['state']>, end: Sequence): boolean {
    if (last === undefined) return true
    const isOurs = isOfLog(this.#options.origin, last, restored)
    // A checkpoint that another log left withheld is never published, and blocks nothing.
    if (withheld !== undefined) return !isOurs
    // Entries of one moment get times that are later by a microsecond each.
    const elapsed = this.#options.clock() - Math.floor(last.timeMicroseconds / 1000)
    return elapsed < 0 || elapsed >= 1000 * this.#waits(last, quiet, end)
  }

  /**
   * Seconds from the last checkpoint to the next. Records that arrived while it was signed are covered by the next, like new ones;
   * but when they are the only reason, each such checkpoint waits twice as long as the one before: they may be the requests
   * of a witness that signs whenever this store does.
   */
  #waits(last: CheckpointState, quiet: Sequence | undefined, end: Sequence): number {
    const { intervalSeconds, heartbeatSeconds } = this.#options
    if (isNewAfter(last, quiet, end)) return Math.min(intervalSeconds, heartbeatSeconds)
    return last.sequence > last.size
      ? Math.min(intervalSeconds * 2 ** this.#followUps, heartbeatSeconds)
      : heartbeatSeconds
  }

  /**
   * How long the next checkpoint has been due, whatever it waits for: trees, a receipt of the one before, an operator. Undefined where
   * there are none.
   */
  get lateSeconds(): number | undefined {
    if (this.#options.intervalSeconds === 0) return undefined
    const { last, quiet, applied } = this.#reader.state()
    if (last === undefined || applied === undefined) return 0
    const elapsed = (this.#options.clock() - last.timeMicroseconds / 1000) / 1000
    return Math.max(0, elapsed - this.#waits(last, quiet, applied.sequence))
  }

  async #sign(
    { roots, extendsPrevious, hashes }: NonNullable<TreeReport['due']>,
    last: CheckpointState | undefined,
    restored: Sequence | undefined,
  ): Promise<void> {
    if (!extendsPrevious) {
      throw new CheckpointForkError(
        `the journal on the disk does not continue the checkpoint of ${last?.size} records that this store signed`,
      )
    }
    const previous = last === undefined ? ZEROS : (hashes[0] as Uint8Array)
    const restore = restored === undefined ? undefined : hashes.at(-1)
    const key = this.#options.keys.inForce(this.#reader.state())
    const origin = originOf(this.#options.origin, restore)
    const own = last?.origin === origin ? last : undefined
    await this.#memories.ask(origin, own, (size) => this.#reader.signedOfSize(size))
    // Another memory may have met another history meanwhile.
    if (this.#rollback !== undefined) throw this.#rollback
    const signature = Uint8Array.from(key.sign(checkpointText({ origin, size: roots.size, root: roots.root })))
    const publicKey = Uint8Array.from(key.publicKey)
    const { quiet, applied } = this.#reader.state()
    const isFollowUp = last !== undefined && applied !== undefined && !isNewAfter(last, quiet, applied.sequence)
    await this.#engine.execute({
      kind: 'sign-checkpoint',
      audit: systemAudit('checkpoints', 'checkpoint.sign', origin),
      checkpoint: { ...roots, previous, origin, publicKey, signature },
      after: last?.sequence,
      isWithheld: this.#options.withholds(),
    })
    this.#followUps = isFollowUp ? this.#followUps + 1 : 0
    this.#signed += 1
    this.#refusal = undefined
    this.#options.onSigned({ size: roots.size, origin })
  }
}
