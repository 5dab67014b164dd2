import { microsecondsOf } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { readSignatureLines, signaturesOf } from '../../engine/checkpoints/checkpoint-note.ts'
import { type Cosignature, cosignatureLine } from '../../engine/checkpoints/cosignature.ts'
import { isQuorum, type PolicyWitness, type WitnessPolicy } from '../../engine/checkpoints/witness-policy.ts'
import type { CheckpointReader } from '../../projections/checkpoints/reader.ts'
import { systemAudit } from '../system-audit.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'
import type { OutsideMemory, Seen } from './outside-memory.ts'
import type { PublicationRequirement } from './publish-checkpoints.ts'
import { WitnessContradiction, WitnessLine } from './witness-line.ts'

interface WitnessOptions extends Omit<ConstructorParameters<typeof WitnessLine>[1], 'stop'> {
  readonly isRequired: boolean
  readonly onFailure: (witness: string, error: unknown) => void
  /** A witness has cosigned another history than the journal's. */
  readonly onContradiction: (seenBy: string, seen: Seen) => void
}

/**
 * Has the witnesses of a policy cosign the last checkpoint (C2SP tlog-witness; spec/decisions/0158-receipts-and-witnesses.md), all
 * in parallel and in the background, and remembers by them how far the log was signed.
 */
export class CheckpointWitnesses implements BackgroundWorker {
  readonly name = 'witnesses'
  readonly #engine: Pick<EngineClient, 'execute'>
  readonly #reader: Pick<CheckpointReader, 'state' | 'receiptsOf'>
  readonly #policy: WitnessPolicy
  readonly #options: WitnessOptions
  readonly #lines: readonly WitnessLine[]
  readonly #flights = new Map<WitnessLine, Promise<void>>()
  readonly #stop = new AbortController()
  /** A failure here, not at a witness. */
  #failed: unknown
  #kept = 0

  constructor(
    engine: Pick<EngineClient, 'execute'>,
    reader: Pick<CheckpointReader, 'state' | 'receiptsOf'>,
    policy: WitnessPolicy,
    options: WitnessOptions,
  ) {
    this.#engine = engine
    this.#reader = reader
    this.#policy = policy
    this.#options = options
    const line = { ...options, stop: this.#stop.signal }
    this.#lines = policy.witnesses.map((witness) => new WitnessLine(witness, line))
  }

  get status(): string {
    return `${this.#kept} cosignatures kept, ${this.facts.failures} attempts failed`
  }

  get facts(): { readonly failures: number } {
    return { failures: this.#lines.reduce((sum, { backoff }) => sum + backoff.failures, 0) }
  }

  /** That a quorum of the policy has cosigned. */
  get requirement(): PublicationRequirement {
    return {
      name: 'a quorum of witnesses',
      isMet: ({ size }) => {
        const cosigned = this.#policy.witnesses.filter((witness) => this.#hasCosigned(size, witness))
        return isQuorum(
          this.#policy,
          cosigned.map(({ name }) => name),
        )
      },
    }
  }

  /** Every witness, and where they are required also that a quorum of them has answered. */
  get memories(): readonly OutsideMemory[] {
    const each = this.#lines.map(
      (line): OutsideMemory => ({
        name: nameOf(line),
        isRequired: false,
        seen: (origin, own) => line.seen(origin, own),
      }),
    )
    return this.#options.isRequired
      ? [...each, { name: 'a quorum of the witnesses', isRequired: true, seen: this.#quorum }]
      : each
  }

  async step(): Promise<StepResult> {
    if (this.#failed !== undefined) {
      const error = this.#failed
      this.#failed = undefined
      throw error
    }
    const { last } = this.#reader.state()
    if (last === undefined) return 'idle'
    for (const line of this.#lines) {
      if (this.#flights.has(line) || !line.backoff.isDue || this.#hasCosigned(last.size, line.witness)) continue
      const flight = this.#attempt(line, last).finally(() => this.#flights.delete(line))
      this.#flights.set(line, flight)
    }
    return 'idle'
  }

  /** Nothing is waited for when the server stops: the next start asks again. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.settled()
  }

  /** Resolves when no request is on its way. */
  async settled(): Promise<void> {
    await Promise.all(this.#flights.values())
  }

  /** Never rejects: a failure of the witness is reported and retried, a failure here ends the next step. */
  async #attempt(line: WitnessLine, checkpoint: CheckpointState): Promise<void> {
    let cosignature: Cosignature | undefined
    try {
      cosignature = await line.cosign(checkpoint, () => this.#reader.state().last)
    } catch (error) {
      if (this.#stop.signal.aborted) return
      if (error instanceof WitnessContradiction) this.#options.onContradiction(nameOf(line), error.seen)
      this.#options.onFailure(line.witness.name, error)
      return
    }
    try {
      if (cosignature !== undefined) await this.#keep(line.witness, checkpoint, cosignature)
    } catch (error) {
      this.#failed = error
    }
  }

  async #keep(
    { name, key }: PolicyWitness,
    { size, origin }: CheckpointState,
    cosignature: Cosignature,
  ): Promise<void> {
    const line = cosignatureLine(key.name, key.publicKey, cosignature)
    await this.#engine.execute({
      kind: 'record-receipt',
      audit: systemAudit('checkpoints', 'checkpoint.receipt', origin),
      receipt: {
        size,
        kind: 'cosignature',
        giver: name.replace(/[^!-~]/gu, encodeURIComponent),
        receipt: Buffer.from(line.trimEnd()),
        assertedMicroseconds: microsecondsOf(cosignature.seconds * 1_000_000),
      },
    })
    this.#kept += 1
  }

  /** By the key: a policy may give its name to another witness. */
  #hasCosigned(size: number, { key }: PolicyWitness): boolean {
    return this.#reader
      .receiptsOf(size)
      .filter(({ kind }) => kind === 'cosignature')
      .some(({ receipt }) => signaturesOf(readSignatureLines(`${Buffer.from(receipt).toString()}\n`), key).length > 0)
  }

  readonly #quorum = async (origin: string): Promise<undefined> => {
    const answered = this.#lines.filter((line) => line.hasAnswered(origin)).map(({ witness }) => witness.name)
    if (isQuorum(this.#policy, answered)) return
    throw new Error(`only ${answered.length} of ${this.#lines.length} witnesses have said what they know of the log`)
  }
}

function nameOf({ witness }: WitnessLine): string {
  return `witness ${witness.name}`
}
